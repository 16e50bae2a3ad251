// The answer that importance of tokens is about: at each position of the output, the probability of the class (or
// token) that is the most probable on the whole text, right or wrong.

#pragma once

#include <cstdint>
#include <vector>

#include "heed/explain/explained.h"

namespace heed {

/// int64 [B, P]; 0 at padding.
Tensor predicted_classes(const ExplainedBatch& batch);

/// The answer in outputs [N, P, C] of texts rows [N]: [N, P].
Tensor answers_in(const ExplainedBatch& batch, const Tensor& rows, const Tensor& outputs);

/// Numbers of tokens of a text among the T of the batch: token i of ExplainedText::tokens is at [i]. In a document they
/// are not contiguous.
std::vector<int64_t> token_slots(const ExplainedBatch& batch, int64_t row);

/// 0 at padding of positions and tokens: float [B, P, T].
Tensor without_padding(const ExplainedBatch& batch, const Tensor& scores);

/// For embeddings [N, T, D] of texts rows [N]: [N, P, T], the gradient of the probability of the predicted class with
/// respect to the embedding of each token, times `direction` [N, T, D], summed over D. Weights have their gradient.
Tensor gradients_along(ExplainedBatch& batch, const Tensor& rows, const Tensor& embedded, const Tensor& direction);

/// A text of the batch without some of its tokens.
struct ErasedText {
  int64_t row = 0;
  std::vector<int64_t> removed{};  // of the T of the batch
};

struct ErasedOutput {
  std::vector<double> probability{};  // [P] of the class that is predicted on the whole text
  std::vector<bool> flipped{};        // [P] whether another class is the most probable one, or, of independent classes,
                                      // whether any changes sides of 1/2
};

/// Reads texts again, so many at a time that the numbers of their outputs and tokens are bounded. several: classes are
/// independent.
std::vector<ErasedOutput> read_erased(ExplainedBatch& batch, const std::vector<ErasedText>& texts, bool several,
                                      int64_t numbers_at_once = int64_t{1} << 24);

/// Numbers in (0, 1) for the tokens of a text, of one use of random numbers: they depend on seed, item, position and
/// the number of the token alone.
enum class DrawnFor : uint64_t { attribution = 9401, ties = 9402, words = 9403 };
std::vector<double> drawn_numbers(DrawnFor purpose, uint64_t seed, size_t item, int64_t position, int64_t count);

}  // namespace heed
