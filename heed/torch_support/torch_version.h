// Differences between libtorch 1.13 and PyTorch 2.x.

#pragma once

#include <ATen/ATen.h>
#include <torch/version.h>

namespace heed {

/// An undefined tensor becomes nullopt, as ATen functions expect.
inline c10::optional<at::Tensor> optional(const at::Tensor& tensor) {
  return tensor.defined() ? c10::optional<at::Tensor>(tensor) : c10::nullopt;
}

}  // namespace heed
