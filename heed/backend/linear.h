// A linear layer. On a GPU, one of few rows is bound by what its host launches: it is one launch here, and so are its
// gradients (kernels/cuda/linear.h).

#pragma once

#include <ATen/core/Tensor.h>

namespace heed {

/// x W' + b, as at::linear: x [..., in], weight [out, in], bias [out] or undefined -> [..., out].
at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

}  // namespace heed
