// Tensors of counter-based random numbers (Philox), which depend on their indices and not on the order of the calls:
//
//   u(seed, stream, purpose; element of the global batch, head, query, column),   column = key * W + channel
//
// so tiles, threads and devices that compute only some of them get the same numbers.

#pragma once

#include <cstdint>

#include <torch/types.h>

#include "heed/base/philox.h"

namespace heed {

struct Draws {
  uint64_t seed = 0, stream = 0;
  int64_t first_row = 0, first_query = 0;  // batch element and query of index 0 of the tensor

  /// u in (0, 1) of shape [B, H, Lq, ...]; the axes after Lq are flattened to columns.
  at::Tensor uniform(Purpose purpose, at::IntArrayRef shape, const at::TensorOptions& options) const;

  /// Factors of inverted dropout of shape [B, H, Lq, ...]: 0 where u < rate, else 1 / (1 - rate).
  at::Tensor kept(at::IntArrayRef shape, double rate, const at::TensorOptions& options) const;
};

}  // namespace heed
