// What differs between libtorch 1.13 and PyTorch 2.x, in one place.

#pragma once

#include <ATen/ATen.h>
#include <torch/version.h>

namespace heed {

/// An undefined tensor as the absent one that ATen's functions expect.
inline c10::optional<at::Tensor> optional(const at::Tensor& tensor) {
  return tensor.defined() ? c10::optional<at::Tensor>(tensor) : c10::nullopt;
}

}  // namespace heed
