// A training step frees its tensors and asks for the same ones again in the next. glibc gives large blocks back to the
// system in between, and the system clears every page of them anew. A program that trains says at its start that it
// would rather keep them: the library never does.

#pragma once

#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace heed {

/// Freed blocks of up to 32 MiB, which is the most that glibc allows, stay with the process, up to 1 GiB in all.
inline void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace heed
