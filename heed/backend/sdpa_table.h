// Which engine computes plain dot + softmax in float on a GPU: the own kernels (backend/cuda.cpp) or SDPA's efficient
// one (backend/sdpa.cpp). SDPA has no other engine for float.
//
// The efficient engine multiplies matrices on tensor cores as three products of TF32, with the error of float; it needs
// tiles of 64 queries and keys to be busy, and more launches in backward. With one order of sums (Call::deterministic)
// its backward has one block for each head and 64 queries or so, which is slow for long sequences. The own kernels
// start with less work for the host, read no padding, and split long sums in a fixed order.
//
// Forward + backward on an H200 with PyTorch 2.11, B H N = 65536, D 64, milliseconds (bench_cuda_call, `dot by
// length`):
//
//   N                                16     32     64    128    512   1024   2048
//   own kernels                    0.13   0.18   0.37   0.65   1.99   4.43   9.79
//   efficient, one order of sums      -      -      -      -   1.27   4.33  16.19
//   efficient, any order           0.43   0.27   0.20   0.30   0.95   1.80   3.53

#pragma once

#include <algorithm>
#include <cstdint>

namespace heed::backend {

// Queries or keys, whichever are more.
inline constexpr int64_t kEfficientFrom = 48;
inline constexpr int64_t kOneOrderBelow = 1280;

/// Whether SDPA's engine is faster than the own kernels, where both support a call. one_order: sums of its backward
/// must have one order.
inline bool efficient_is_faster(int64_t queries, int64_t keys, bool one_order) {
  const int64_t length = std::max(queries, keys);
  return length >= kEfficientFrom && std::min(queries, keys) > 1 && (!one_order || length < kOneOrderBelow);
}

}  // namespace heed::backend
