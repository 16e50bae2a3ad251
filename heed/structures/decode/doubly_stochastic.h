// The penalty of Xu et al. (2015): summed over all targets, the weight of each key should be about 1.
//
//   sum_l (1 - sum_t a_tl)^2          for each batch element, over its real keys; 0 if there are none

#pragma once

#include <torch/types.h>

namespace heed {

using at::Tensor;

/// weights: [B, T, L], or their sum over targets, Attended::column_mass [B, L], which avoids T x L memory. keep: bool
/// [B, L]; undefined: all keys are real. Returns [B].
Tensor doubly_stochastic_penalty(const Tensor& weights, const Tensor& keep = {});

}  // namespace heed
