// Gold links of the pairs of a parallel text: Pharaoh lines in files of their own, line k for line k of the text, or in
// a column of its TSV file, counted from 1.

#pragma once

#include <string>
#include <vector>

#include "heed/base/links.h"
#include "heed/data/parallel_text.h"

namespace heed {

struct PairLinkOptions {
  std::string root{};     // folder of relative paths
  bool from_one = false;  // words are counted from 1
  bool swap = false;      // source and target of the text are exchanged, and so are those of links
};

/// The links of each pair, and where they are: "gold.txt:17".
struct PairLinks {
  std::vector<Links> links;
  std::vector<std::string> origins;
};

/// from: a file for each file of the text (for each two files, of two), or the number of a column alone. Throws Error,
/// with file and line, for a malformed link, for files of other lengths, and for words that seem to be counted from 1.
PairLinks read_pair_links(const ParallelText& text, const std::vector<std::string>& from,
                          const PairLinkOptions& options = {});

/// Throws Error, with `origin`, if a link is to a word that is not there.
void check_links(const Links& links, size_t source_words, size_t target_words, const std::string& origin);

}  // namespace heed
