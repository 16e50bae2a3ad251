// Selects pieces by frequency, for tokenizers that do not construct pieces (words, characters).

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heed/base/spec.h"
#include "heed/data/tokenizer/spec.h"

namespace heed {

using TokenCounts = std::map<std::string, int64_t>;

/// The options vocabulary (number of pieces, including the special ones; 0: no limit) and min_count.
struct Choice {
  std::string part;  // for messages: "tokenizer/words"
  int64_t vocabulary, min_count;

  explicit Choice(const Options& options);
  /// The special pieces, then the most frequent ones, ties in lexicographic order. An Error if min_count excludes all.
  std::vector<std::string> pieces(const TokenCounts& counts) const;
};

/// Counts the chunks of the lines, without special pieces.
TokenCounts count_chunks(const std::vector<std::string>& lines, const Replacement& normalize,
                         TokenizerSpec::Split split);

std::vector<std::string> special_pieces();

}  // namespace heed
