// Beam search for the best translation; with one beam it is greedy.
//
//   score(y) = log p(y | x) / ((5 + |y|) / 6)^alpha        (Wu et al., 2016), |y| with the end marker
//
// A beam that ends is set aside; a sentence is done when as many have ended as there are beams, or at the longest
// length. Sentences that are done leave the batch.

#pragma once

#include <vector>

#include "heed/models/translate/model.h"

namespace heed {

struct SearchOptions {
  int64_t beam = 1;
  double length_penalty = 1;             // alpha
  double longest = 2, longest_add = 10;  // at most longest |x| + longest_add words
  bool weights = false;                  // how each word looked at the source
};

struct Hypothesis {
  std::vector<int64_t> tokens;  // without the end marker
  double log_probability = 0;   // with it
  double score = 0;
  bool ended = false;                          // false: cut at the longest length
  std::vector<std::vector<double>> weights{};  // [words and the end marker][source]
};

/// The best hypotheses of each batch row, best first, at least one; source [B, S], keep [B, S].
std::vector<std::vector<Hypothesis>> search(TranslationModel& model, const Tensor& source, const Tensor& keep,
                                            const SearchOptions& options);

}  // namespace heed
