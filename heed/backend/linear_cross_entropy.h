// Cross entropy of the logits of a linear layer, summed over rows; cross_entropy(linear(x, W, b)) is its definition.
//
// On the CPU logits exist for some rows at a time, and become their gradients where they lie: forward computes the
// gradients of x, W and b as well, and backward only hands them out. With 6,000 tokens and 10,000 classes the logits
// alone would be 240 MB, written and read several times.

#pragma once

#include "heed/backend/cross_entropy.h"

namespace heed {

/// x [n, D], weight [V, D], bias [V] or undefined, wanted int64 [n] -> float []. options.consume: backward may run
/// once, and hands out its memory.
at::Tensor linear_cross_entropy(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                const at::Tensor& wanted, const CrossEntropyOptions& options = {});

}  // namespace heed
