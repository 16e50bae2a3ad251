// Threads, and the BLAS that shares them.
//
// libtorch may start with one thread, so a program says at its start how many it wants: the library never does.
// Torch runs its loops on OpenMP threads; a BLAS with a thread pool of its own (OpenBLAS, pthread flavour) makes
// the two pools fight for the same cores.

#pragma once

#include <string>

namespace heed {

/// Processors that this process may run on, at least 1.
int threads_from_affinity();

/// For torch's loops and for BLAS, from here on.
void use_threads(int threads);

/// The matrix products behind torch on the CPU.
struct Blas {
  std::string name;     // "OpenBLAS 0.3.21 ...", "MKL", or the library's file, or "unknown"
  std::string threads;  // "openmp", "pthread", "none" (serial), or "unknown"

  /// "", or what is wrong and how to cure it.
  std::string warning() const;
};
Blas blas_in_use();

}  // namespace heed
