// How many threads a program should use. Nothing here starts one.

#pragma once

namespace heed {

/// More would only wait for each other.
inline constexpr int kMaxThreads = 256;

/// Processors that this process may run on, at least 1.
int threads_from_affinity();

/// What OMP_NUM_THREADS says (the first number of a list), else threads_from_affinity(); at most kMaxThreads.
int default_threads();

}  // namespace heed
