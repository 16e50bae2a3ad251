// The passes over a problem, compiled for one instruction set: the functions of kernels.h.

#pragma once

#include "heed/kernels/cpu/engine/backward.h"
#include "heed/kernels/cpu/engine/kernels.h"
#include "heed/kernels/cpu/engine/report.h"

namespace heed::kernels::cpu {

template <class V>
struct Passes {
  using Real = typename V::Real;
  static void forward(const Problem<Real>& p, const ParallelFor& f) { Engine<V>(p, f).forward(); }
  static void report(const Problem<Real>& p, const RequestedOutputs<Real>& w, const ParallelFor& f) {
    Report<V>(p, w, f).run();
  }
  static void backward(const Problem<Real>& p, const Gradients<Real>& g, const IndexedGradients<Real>& of_outputs,
                       const ParallelFor& f) {
    Backward<V>(p, g, of_outputs, f).run();
  }
  static constexpr Kernels<Real> kKernels{V::kName, forward, report, backward};
};

}  // namespace heed::kernels::cpu
