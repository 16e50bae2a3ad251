// TER, translation edit rate (Snover et al., 2006), equal to sacreBLEU 2 (which follows tercom) in every digit.
//
//   TER = edits / words of the references
//
// Edits: insertions, deletions and substitutions of a word, and shifts of a phrase, 1 each. Shifts are found greedily:
// the one that saves most edits first, until none saves any. With several references, the smallest number of edits and
// the mean reference length count.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct TerOptions {
  bool case_sensitive = false;
  bool normalized = false;  // decode entities, split off punctuation
  bool no_punct = false;    // remove . , ? : ; ! " ( )
  bool asian = false;       // normalized: split Chinese characters; no_punct: remove Chinese punctuation too
};

/// Sufficient statistics; those of a corpus are the sum over its sentences.
struct TerCounts {
  int64_t edits = 0;
  double reference_length = 0;
};

struct Ter {
  double score = 0;  // in percent; above 100 if there are more edits than words
  int64_t edits = 0;
  double reference_length = 0;
  std::vector<TerCounts> sentences;
};

double ter_of(const TerCounts& counts);

Ter ter(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
        const TerOptions& options = {});

/// Number of edits, including shifts, between the words of two sentences.
int64_t edits_with_shifts(const std::vector<std::string>& hypothesis, const std::vector<std::string>& reference);

/// Signature in sacreBLEU's form: "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:heed-0.1.0"
std::string signature(const TerOptions& options, size_t references = 1);

}  // namespace heed
