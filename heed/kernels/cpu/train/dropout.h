// Inverted dropout of x [rows, positions, width] with the counter-based numbers of base/philox.h:
//
//   y = x * (u >= rate ? 1 / (1 - rate) : 0)        u(seed, stream; row, position, column)
//
// The numbers are drawn where they are used and never stored: backward draws them again.

#pragma once

#include <cstdint>

#include "heed/base/parallel.h"

namespace heed::kernels::cpu {

struct Dropout {
  int64_t rows = 0, positions = 1, width = 0;
  const float* x = nullptr;
  float* y = nullptr;  // may be x
  float rate = 0;
  uint64_t seed = 0, stream = 0;
  int64_t first_row = 0;  // of the global batch
};

void dropout(const Dropout& problem, const ParallelFor& parallel_for);

}  // namespace heed::kernels::cpu
