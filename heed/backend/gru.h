// The elementwise part of a GRU's step on the CPU, each tensor read and written once (kernels/cpu/train/gru.h).

#pragma once

#include <array>
#include <utility>

#include <ATen/core/Tensor.h>

namespace heed {

/// Whether there is a kernel for tensors of this device and dtype.
bool has_gru_kernel(const at::Tensor& x);

/// {h', gates r z n [B, 3 S]} from x W' + b and h U' + b [B, 3 S], and h [B, S]. No graph is recorded.
std::pair<at::Tensor, at::Tensor> gru_forward(const at::Tensor& given, const at::Tensor& own, const at::Tensor& before);

/// Gradients with respect to given, own and before, from that of h'.
std::array<at::Tensor, 3> gru_backward(const at::Tensor& gates, const at::Tensor& own, const at::Tensor& before,
                                       const at::Tensor& grad);

}  // namespace heed
