// The best tokens of each row of log-probabilities over a vocabulary.

#pragma once

#include <utility>

#include <ATen/core/Tensor.h>

namespace heed {

/// The `count` largest values of each row of log_p [rows, V], largest first, and their indices: [rows, count] each. The
/// order of equal values is unspecified. NaN counts as the largest.
///
/// at::topk passes over a row many times. Here one pass finds the maximum of every block of columns; the largest values
/// are in the `count` blocks whose maxima are largest.
std::pair<at::Tensor, at::Tensor> top_tokens(const at::Tensor& log_p, int64_t count);

}  // namespace heed
