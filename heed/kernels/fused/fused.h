// Fused attention on the CPU: forward, what is wanted besides, and backward, in memory that does not grow with
// queries x keys. Float runs on the fastest instruction set of the machine, double on the portable one.
//
//   forward(problem, parallel_for);            context and, for each row, what the others need
//   report(problem, wanted, parallel_for);     weights, entropy, ...: a second pass, over what is asked for
//   backward(problem, gradients, parallel_for);
//
// Results have the same bits on any number of threads: work is cut by sizes alone and sums have a fixed order.

#pragma once

#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/fused/problem.h"

namespace heed::kernels::fused {

template <typename Real>
void forward(const Problem<Real>& problem, const ParallelFor& parallel_for = in_order);
template <typename Real>
void report(const Problem<Real>& problem, const RequestedOutputs<Real>& wanted,
            const ParallelFor& parallel_for = in_order);
template <typename Real>
void backward(const Problem<Real>& problem, const Gradients<Real>& gradients,
              const ParallelFor& parallel_for = in_order);

extern template void forward(const Problem<float>&, const ParallelFor&);
extern template void forward(const Problem<double>&, const ParallelFor&);
extern template void report(const Problem<float>&, const RequestedOutputs<float>&, const ParallelFor&);
extern template void report(const Problem<double>&, const RequestedOutputs<double>&, const ParallelFor&);
extern template void backward(const Problem<float>&, const Gradients<float>&, const ParallelFor&);
extern template void backward(const Problem<double>&, const Gradients<double>&, const ParallelFor&);

/// Those that this machine has, slowest first: "portable", "avx2", "avx512".
std::vector<std::string> instruction_sets();
/// The one that float runs on: the fastest, or what the environment variable HEED_ISA names.
std::string instruction_set();
/// From here on, for the whole process; refuses what the machine does not have. For tests and benchmarks.
void use_instruction_set(const std::string& name);

}  // namespace heed::kernels::fused
