// Beam search for the best translation; with one beam it is greedy.
//
//   score(y) = log p(y | x) / ((5 + |y|) / 6)^alpha        (Wu et al., 2016), or log p(y | x) / |y|^alpha
//
// |y| counts the end marker. A beam that ends becomes a hypothesis. A sentence is finished when it has as many
// hypotheses as beams, or at the maximum length. Finished sentences leave the batch.
//
// On a CPU the host chooses the beams of every step. On a GPU that would wait for the device: tensors choose them
// (beam_tensors.h), and the host reads the candidates of several steps at once. Both give the same translations.

#pragma once

#include <vector>

#include "heed/models/translate/length_normalization.h"
#include "heed/models/translate/model.h"

namespace heed {

/// Options of the beam search.
struct SearchOptions {
  int64_t beam = 1;           // number of beams
  double length_penalty = 1;  // alpha
  LengthNormalization normalization = LengthNormalization::gnmt;
  double longest = 2, longest_add = 10;  // maximum length: longest |x| + longest_add tokens
  bool weights = false;                  // return the attention weights of each token
  int64_t interval = 0;                  // steps after which the host reads; 0: 1 on a CPU, 8 on a GPU
  // Steps of few rows on a GPU are recorded and repeated. Where nothing can be recorded, `always` takes the same steps.
  enum class Capture { never, few_rows, always } capture = Capture::few_rows;
};

/// One candidate translation.
struct Hypothesis {
  std::vector<int64_t> tokens;                 // token ids, without the end marker
  double log_probability = 0;                  // including the end marker
  double score = 0;                            // log_probability with length penalty
  bool ended = false;                          // false: truncated at the maximum length
  std::vector<std::vector<double>> weights{};  // [tokens and end marker][source tokens]
};

/// The hypotheses of each batch element, best first, at least one. source: token ids [B, S]; keep: bool [B, S].
/// Throws Error if beam < 1, S = 0 or log-probabilities are NaN.
std::vector<std::vector<Hypothesis>> search(TranslationModel& model, const Tensor& source, const Tensor& keep,
                                            const SearchOptions& options);

}  // namespace heed
