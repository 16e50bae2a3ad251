// W x + b, on a CPU with a matrix-vector product where x is a single vector (one decoder step). A matrix product first
// packs W into panels, which takes longer than the product itself; a matrix-vector product reads W once. On a GPU it
// would take more launches.

#pragma once

#include <ATen/ATen.h>

#include "heed/backend/linear.h"

namespace heed {

/// x [..., in], weight [out, in], bias [out] or undefined  ->  [..., out].
inline at::Tensor affine(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (!x.device().is_cpu() || x.numel() == 0 || x.numel() != x.size(-1)) return linear_layer(x, weight, bias);
  auto shape = x.sizes().vec();
  shape.back() = weight.size(0);
  const auto row = x.reshape({-1});
  return (bias.defined() ? at::addmv(bias, weight, row) : at::mv(weight, row)).view(shape);
}

}  // namespace heed
