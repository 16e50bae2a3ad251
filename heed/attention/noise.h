// The random numbers of one attention call.

#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace heed {

/// Random numbers of a call. They are counter-based: the same for any tiling, thread count and device.
struct Noise {
  bool sample = false;    // alignments sample; false: they are deterministic. Set by a module in training mode
  double dropout = 0;     // rate, 0 <= rate < 1, for the weights that enter the context; reported weights have none
  uint64_t seed = 0;      // 0: a seed from torch's generator, reported in the plan
  uint64_t stream = 0;    // separates the uses of a seed, such as layers and steps; below 2^30
  int64_t first_row = 0;  // index of batch element 0 in the global batch
  int64_t rows_each = 1;  // batch elements per element of the global batch, such as the beam size; counted in first_row
  at::Tensor uniforms{};  // [B, Lq, Lk] or [B, H, Lq, Lk] (+ [W] if multi) in (0, 1), replaces the drawn numbers
};

/// Inside a NoiseScope (heed/torch_support/noise_scope.h), if neither seed nor stream is set: takes both, and
/// first_row, from the scope.
void follow_scope(Noise& noise);

}  // namespace heed
