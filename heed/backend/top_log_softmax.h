// The best tokens of each row of logits over a vocabulary.

#pragma once

#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace heed {

/// The `count` largest entries of each row of log softmax(logits), logits [rows, V], largest first, and their columns:
/// [rows, count] each. Columns in `excluded` are part of the softmax, but not returned. The order of equal entries is
/// unspecified. If a logit is NaN, so is the first entry of its row.
std::pair<at::Tensor, at::Tensor> top_log_softmax(const at::Tensor& logits, int64_t count,
                                                  const std::vector<int64_t>& excluded = {});

/// The same with torch operations, on any device.
std::pair<at::Tensor, at::Tensor> top_log_softmax_by_torch(const at::Tensor& logits, int64_t count,
                                                           const std::vector<int64_t>& excluded = {});

}  // namespace heed
