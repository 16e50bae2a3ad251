// The multi-dimensional kernels, one table per instruction set. Widths and channels are multiples of 16, and all
// gradients except those of Wd and of the biases are required. `elements`: number of channels before padding, which
// numbers the random numbers of dropout.

#pragma once

#include "heed/kernels/cpu/multi/attend.h"

namespace heed::kernels::cpu {

template <typename Real>
struct MultiSet {
  void (*forward)(const MultiProblem<Real>& problem, int64_t elements, const ParallelFor& parallel_for);
  void (*backward)(const MultiProblem<Real>& problem, const MultiGradients<Real>& gradients, int64_t elements,
                   const ParallelFor& parallel_for);
};

extern const MultiSet<float> kMultiPortable;
extern const MultiSet<double> kMultiDouble;
extern const MultiSet<float> kMultiAvx2;    // x86-64 only
extern const MultiSet<float> kMultiAvx512;  // x86-64 only

}  // namespace heed::kernels::cpu
