// Dropout of layers.

#pragma once

#include <ATen/core/Tensor.h>

namespace heed {

/// Inverted dropout of x [B, ...]: 0 with probability rate, else x / (1 - rate). Inside a NoiseScope, on the CPU, it is
/// counter-based: whether x[b, l, d] is dropped does not depend on batch size and length. Otherwise at::dropout.
at::Tensor dropout(const at::Tensor& x, double rate, bool training);

}  // namespace heed
