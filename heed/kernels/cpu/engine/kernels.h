// One function table per instruction set; each is defined in a file of its own.

#pragma once

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/engine/indexed_gradients.h"
#include "heed/kernels/problem.h"

namespace heed::kernels::cpu {

/// Widths of values and context, and of the gradients of query and keys, must be multiples of kPad.
template <typename Real>
struct Kernels {
  const char* name;
  void (*forward)(const Problem<Real>&, const ParallelFor&);
  void (*report)(const Problem<Real>&, const RequestedOutputs<Real>&, const ParallelFor&);
  /// Gradients of requested outputs are read from the third argument only.
  void (*backward)(const Problem<Real>&, const Gradients<Real>&, const IndexedGradients<Real>&, const ParallelFor&);
};

const Kernels<float>& portable_kernels();
const Kernels<double>& double_kernels();
#if defined(__x86_64__)
const Kernels<float>& avx2_kernels();
const Kernels<float>& avx512_kernels();
#endif

}  // namespace heed::kernels::cpu
