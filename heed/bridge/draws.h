// Random numbers that depend on what they are for, not on who asks first: Philox by counter, as tensors.
//
//   u(seed, stream, purpose; global batch row, head, query, element),   element = key * W + channel
//
// so a tile, a thread or a device that computes only some of them gets the same ones.

#pragma once

#include <cstdint>

#include <torch/types.h>

#include "heed/kernels/philox.h"

namespace heed {

struct Draws {
  uint64_t seed = 0, stream = 0;
  int64_t first_row = 0, first_query = 0;  // what index 0 of the tensor asked for stands for

  /// u in (0, 1) for [B, H, Lq, ...]; the axes after the queries are one row of elements.
  at::Tensor uniform(kernels::Purpose purpose, at::IntArrayRef shape, const at::TensorOptions& options) const;

  /// What inverted dropout multiplies [B, H, Lq, ...] by: 0 where u < rate, else 1 / (1 - rate).
  at::Tensor kept(at::IntArrayRef shape, double rate, const at::TensorOptions& options) const;
};

}  // namespace heed
