// The multi-dimensional kernels, once for each instruction set. Widths and channels are multiples of 16, and every
// gradient but those of Wd and of the biases is wanted. `elements`: channels that count for the noise.

#pragma once

#include "heed/kernels/fused/multi.h"

namespace heed::kernels::fused {

template <typename Real>
struct MultiSet {
  void (*forward)(const MultiProblem<Real>& problem, int64_t elements, const ParallelFor& parallel_for);
  void (*backward)(const MultiProblem<Real>& problem, const MultiGradients<Real>& gradients, int64_t elements,
                   const ParallelFor& parallel_for);
};

extern const MultiSet<float> kMultiPortable;
extern const MultiSet<double> kMultiDouble;
extern const MultiSet<float> kMultiAvx2;    // where there is one
extern const MultiSet<float> kMultiAvx512;  // likewise

}  // namespace heed::kernels::fused
