// Fused attention on the CPU: forward, further outputs, and backward, in memory that does not grow with queries x keys.
// Float runs on the fastest instruction set of the machine, double on the portable one.
//
//   forward(problem, parallel_for);               context, and per query the RowStats that the other two read
//   report(problem, requested, parallel_for);     weights, entropy, ...: a second pass over the requested tiles
//   backward(problem, gradients, parallel_for);
//
// Results have the same bits on any number of threads: sizes alone decide how work is split, and sums have a fixed
// order. All three throw heed::Error if the problem is inconsistent.

#pragma once

#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/traits.h"
#include "heed/kernels/problem.h"

namespace heed::kernels::cpu {

/// Writes problem.context, problem.rows and, if not null, problem.second.
template <typename Real>
void forward(const Problem<Real>& problem, const ParallelFor& parallel_for = in_order);
/// Writes the requested outputs. Call it after forward() on the same problem.
template <typename Real>
void report(const Problem<Real>& problem, const RequestedOutputs<Real>& wanted,
            const ParallelFor& parallel_for = in_order);
/// Writes the requested gradients. Call it after forward() on the same problem.
template <typename Real>
void backward(const Problem<Real>& problem, const Gradients<Real>& gradients,
              const ParallelFor& parallel_for = in_order);

extern template void forward(const Problem<float>&, const ParallelFor&);
extern template void forward(const Problem<double>&, const ParallelFor&);
extern template void report(const Problem<float>&, const RequestedOutputs<float>&, const ParallelFor&);
extern template void report(const Problem<double>&, const RequestedOutputs<double>&, const ParallelFor&);
extern template void backward(const Problem<float>&, const Gradients<float>&, const ParallelFor&);
extern template void backward(const Problem<double>&, const Gradients<double>&, const ParallelFor&);

/// The instruction sets that this machine supports, slowest first: "portable", "avx2", "avx512".
std::vector<std::string> instruction_sets();
/// The instruction set that float runs on: the one named by the environment variable HEED_ISA, by default the fastest.
std::string instruction_set();
/// Sets it for the whole process; throws heed::Error if the machine does not support it. For tests and benchmarks.
void use_instruction_set(const std::string& name);

}  // namespace heed::kernels::cpu
