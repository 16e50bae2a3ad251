// Threads, and the BLAS that shares them.
//
// libtorch may start with one thread, so a program says at its start how many it wants: the library never does.
// Torch runs its loops on OpenMP threads; a BLAS with a thread pool of its own (OpenBLAS, pthread flavor) makes
// the two pools fight for the same cores.

#pragma once

#include <string>

#include "heed/base/thread_count.h"

namespace heed {

/// For torch's loops and for BLAS, from here on; gives how many that are. OpenMP may give fewer than asked for
/// (OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS), and a BLAS that counts on more of its threads than there are waits for
/// them for ever, so what OpenMP gives is tried out. OMP_DYNAMIC, which lets it give fewer at any time, is switched
/// off.
int use_threads(int threads);

/// The matrix products of torch on the CPU.
struct Blas {
  std::string name;     // "OpenBLAS 0.3.21 ...", "MKL", or the library's file, or "unknown"
  std::string threads;  // "openmp", "pthread", "none" (serial), or "unknown"

  /// "", or what is wrong and how to cure it.
  std::string warning() const;
};
Blas blas_in_use();

}  // namespace heed
