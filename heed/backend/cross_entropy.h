// Cross entropy of logits with label smoothing, summed over rows; at::cross_entropy_loss is its definition.
//
// On a GPU with kernels of ours it reads the logits once in forward and once in backward, and stores no
// log-probability.

#pragma once

#include <ATen/core/Tensor.h>

namespace heed {

struct CrossEntropyOptions {
  double smoothing = 0;    // label smoothing
  int64_t ignored = -100;  // rows with this wanted class count as 0
  /// Nobody reads the logits after backward, which may run once: on a GPU their memory becomes that of the gradient.
  bool consume = false;
};

/// logits [n, V] float, wanted int64 [n] -> the sum over rows, float [].
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& wanted, const CrossEntropyOptions& options = {});

}  // namespace heed
