// Which engine computes plain dot + softmax in float on a GPU: the own kernels (backend/cuda.cpp) or SDPA's efficient
// one (backend/sdpa.cpp). SDPA has no other engine for float.
//
// The efficient engine multiplies matrices on tensor cores as three products of TF32, with the error of float; it needs
// tiles of 64 queries and keys to be busy, and more launches in backward. The own kernels start with less work for the
// host, and read no padding. The length at which they meet is the one of bench_cuda_call, `dot by length`.

#pragma once

#include <algorithm>
#include <cstdint>

namespace heed::backend {

inline constexpr int64_t kEfficientFrom = 256;  // queries or keys, whichever are more

/// Whether SDPA's engine is faster than the own kernels, where both support a call.
inline bool efficient_is_faster(int64_t queries, int64_t keys) {
  return std::max(queries, keys) >= kEfficientFrom && std::min(queries, keys) > 1;
}

}  // namespace heed::backend
