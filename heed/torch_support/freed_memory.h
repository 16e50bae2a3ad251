// A training step frees its tensors and allocates the same sizes in the next. By default glibc returns large blocks to
// the system in between, which clears every page again. A training program calls keep_freed_memory() at its start to
// avoid that; the library itself never does.

#pragma once

#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace heed {

/// Freed blocks of up to 32 MiB (the maximum of glibc) stay with the process, up to 1 GiB in total. No effect without
/// glibc.
inline void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace heed
