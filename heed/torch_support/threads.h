// Threads, and the BLAS that shares them.
//
// libtorch may start with one thread, so a program sets the number at its start; the library itself never does. Torch
// runs its loops on OpenMP threads. A BLAS with its own thread pool (OpenBLAS, pthread flavor) competes with them for
// the same cores.

#pragma once

#include <string>

#include "heed/base/thread_count.h"

namespace heed {

/// Sets the number of threads of torch and BLAS; returns the number in effect. OpenMP may provide fewer than requested
/// (OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS), and a BLAS that expects more waits for them forever, so the number is
/// measured with a parallel region. OMP_DYNAMIC, which may reduce it at any time, is turned off. Throws Error unless
/// 1 <= threads <= kMaxThreads.
int use_threads(int threads);

/// The BLAS that torch uses on the CPU.
struct Blas {
  std::string name;     // "OpenBLAS 0.3.21 ...", "MKL", or the library's file, or "unknown"
  std::string threads;  // "openmp", "pthread", "none" (serial), or "unknown"

  /// "" if it shares torch's OpenMP threads; else the problem and its cure.
  std::string warning() const;
};
Blas blas_in_use();

}  // namespace heed
