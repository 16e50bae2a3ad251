// The penalty of Xu et al. (2015): over all targets, each key should get a weight of about 1.
//
//   sum_l (1 - sum_t a_tl)^2          for each batch row, over its real keys; 0 where there is none

#pragma once

#include <torch/types.h>

namespace heed {

using at::Tensor;

/// weights [B, T, L], or what they come to for each key, Attended::column_mass [B, L], which needs no T x L. keep: bool
/// [B, L], or undefined: all keys are real. Gives [B].
Tensor doubly_stochastic_penalty(const Tensor& weights, const Tensor& keep = {});

}  // namespace heed
