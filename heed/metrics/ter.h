// TER, translation edit rate (Snover et al., 2006), number for number that of sacreBLEU 2 (which follows tercom).
//
//   TER = edits / words of the references
//
// Edits: insertions, deletions and replacements of a word, and shifts of a run of words, 1 each. Shifts are found
// greedily: the one that saves most, until none saves. Of several references the fewest edits and the mean length
// count.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct TerOptions {
  bool case_sensitive = false;
  bool normalized = false;  // entities as characters, punctuation apart
  bool no_punct = false;    // without . , ? : ; ! " ( )
  bool asian = false;       // normalized: Chinese characters apart; no_punct: without Chinese punctuation too
};

struct Ter {
  double score = 0;  // of 100, and more where there are more edits than words
  int64_t edits = 0;
  double reference_length = 0;
};

Ter ter(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
        const TerOptions& options = {});

/// Edits, shifts among them, between the words of two sentences.
int64_t edits_with_shifts(const std::vector<std::string>& hypothesis, const std::vector<std::string>& reference);

/// "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:heed-0.1.0"
std::string signature(const TerOptions& options, size_t references = 1);

}  // namespace heed
