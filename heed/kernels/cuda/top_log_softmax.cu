#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

#include "heed/kernels/cuda/top_log_softmax.h"

namespace heed::kernels::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kWords = 4;        // of 16 bytes that a thread reads at once
constexpr int kMostFound = 512;  // entries that may be among the best
constexpr int kNone = 0x7FFFFFFF;

/// Numbers as integers of the same order; -0 is 0.
__device__ __forceinline__ uint32_t ordered(float x) {
  const uint32_t bits = __float_as_uint(x + 0.0F);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

__device__ __forceinline__ bool excluded(const TopLogSoftmax& p, int column) {
  bool found = false;
#pragma unroll
  for (int e = 0; e < kMaxExcluded; ++e) found = found || column == p.excluded[e];
  return found;
}

/// Calls each(four logits, first column, how many there are) for the columns of this thread, several at a time.
template <class Each>
__device__ __forceinline__ void for_columns(const float* x, int columns, bool wide, const Each& each) {
  if (!wide) {
    for (int c = static_cast<int>(threadIdx.x); c < columns; c += kThreads) each(make_float4(x[c], 0, 0, 0), c, 1);
    return;
  }
  const auto* words = reinterpret_cast<const float4*>(x);
  const int count = columns / 4;
  for (int first = static_cast<int>(threadIdx.x); first < count; first += kWords * kThreads) {
    float4 word[kWords];
#pragma unroll
    for (int u = 0; u < kWords; ++u) word[u] = words[min(first + u * kThreads, count - 1)];
#pragma unroll
    for (int u = 0; u < kWords; ++u)
      if (first + u * kThreads < count) each(word[u], 4 * (first + u * kThreads), 4);
  }
}

/// One block for each row. The first pass over the row sums, and finds the largest entry of each thread. Where `count`
/// threads of a warp have entries that reach a bound, the best are among those that reach it: the second pass collects
/// them. If they are too many, because many entries are equal, one pass finds each of the best.
template <bool kMany>
__global__ void __launch_bounds__(kThreads) top_kernel(const __grid_constant__ TopLogSoftmax p, bool wide) {
  __shared__ float maxima[kWarps], sums[kWarps];
  __shared__ uint32_t bounds[kWarps], values[kMostFound];
  __shared__ int positions[kMostFound], found, best_column[kWarps];
  const int64_t row = blockIdx.x;
  const float* x = p.logits + row * p.columns;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, columns = static_cast<int>(p.columns);
  constexpr uint32_t kAll = 0xFFFFFFFFU;
  const uint32_t nothing = ordered(-INFINITY);
  float max = -INFINITY, sum = 0, best = -INFINITY;
  for_columns(x, columns, wide, [&](const float4& four, int c, int n) {
    const float in[4] = {four.x, four.y, four.z, four.w};
    float largest = max;
#pragma unroll
    for (int u = 0; u < 4; ++u)
      if (u < n) largest = fmaxf(largest, in[u]);  // of NaN and a number the number
    const float from = largest == -INFINITY ? 0.0F : largest;
    sum *= expf(max - from);
    max = largest;
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      if (u >= n) continue;
      sum += expf(in[u] - from);  // NaN if the logit is
      if (in[u] > best && !excluded(p, c + u)) best = in[u];
    }
  });
  const uint32_t own = ordered(best);
  uint32_t bound = own;
  if (kMany) {
    bool taken = false;  // the largest of the warp are taken away, until the bound is the last of them
    for (int n = 0; n < p.count; ++n) {
      bound = __reduce_max_sync(kAll, taken ? 0U : own);
      const uint32_t those = __ballot_sync(kAll, !taken && own == bound);
      if (those != 0 && lane == __ffs(static_cast<int>(those)) - 1) taken = true;
    }
  } else {
    bound = __reduce_max_sync(kAll, own);
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(kAll, max, step), more = __shfl_xor_sync(kAll, sum, step);
    const float both = fmaxf(max, other);
    if (both != -INFINITY)
      sum = sum * expf(max - both) + more * expf(other - both);
    else
      sum += more;
    max = both;
  }
  if (lane == 0) {
    maxima[warp] = max;
    sums[warp] = sum;
    bounds[warp] = bound;
  }
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  max = maxima[0];
  bound = bounds[0];
  for (int i = 1; i < kWarps; ++i) {
    max = fmaxf(max, maxima[i]);
    bound = ::max(bound, bounds[i]);
  }
  sum = 0;
  for (int i = 0; i < kWarps; ++i) sum += maxima[i] == -INFINITY ? sums[i] : sums[i] * expf(maxima[i] - max);
  const float lse = max + logf(sum);
  if (own >= bound)  // no entry of another thread reaches the bound
    for_columns(x, columns, wide, [&](const float4& four, int c, int n) {
      const float in[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const uint32_t value = ordered(in[u]);
        if (u >= n || value < bound || value <= nothing || isnan(in[u]) || excluded(p, c + u)) continue;
        const int at = atomicAdd(&found, 1);
        if (at >= kMostFound) continue;
        values[at] = value;
        positions[at] = c + u;
      }
    });
  __syncthreads();
  const auto write = [&](int n, uint32_t value, int column) {
    const uint32_t bits = (value & 0x80000000U) != 0 ? value & 0x7FFFFFFFU : ~value;
    p.best[row * p.count + n] = column == kNone ? -INFINITY - lse : __uint_as_float(bits) - lse;
    p.which[row * p.count + n] = column == kNone ? 0 : column;
  };
  if (found <= kMostFound) {
    if (warp != 0) return;
    for (int n = 0; n < p.count; ++n) {
      uint32_t value = 0;
      int column = kNone, at = -1;
      for (int i = lane; i < found; i += 32)
        if (values[i] > value || (values[i] == value && positions[i] < column)) {
          value = values[i];
          column = positions[i];
          at = i;
        }
      const uint32_t top = __reduce_max_sync(kAll, value);
      const auto first =
          static_cast<int>(__reduce_min_sync(kAll, static_cast<unsigned>(top != 0 && value == top ? column : kNone)));
      if (at >= 0 && value == top && column == first) values[at] = 0;
      __syncwarp();
      if (lane == 0) write(n, top, first);
    }
    return;
  }
  uint32_t last = kAll;  // entries after it, and equal ones in later columns, are left
  int last_column = -1;
  for (int n = 0; n < p.count; ++n) {
    uint32_t value = 0;
    int column = kNone;
    for_columns(x, columns, wide, [&](const float4& four, int c, int many) {
      const float in[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const uint32_t one = ordered(in[u]);
        if (u >= many || one <= nothing || isnan(in[u]) || excluded(p, c + u)) continue;
        if (one > last || (one == last && c + u <= last_column)) continue;
        if (one > value || (one == value && c + u < column)) {
          value = one;
          column = c + u;
        }
      }
    });
    const uint32_t top = __reduce_max_sync(kAll, value);
    const auto first = static_cast<int>(__reduce_min_sync(kAll, static_cast<unsigned>(value == top ? column : kNone)));
    __syncthreads();
    if (lane == 0) {
      bounds[warp] = top;
      best_column[warp] = first;
    }
    __syncthreads();
    last = bounds[0];
    last_column = best_column[0];
    for (int i = 1; i < kWarps; ++i)
      if (bounds[i] > last || (bounds[i] == last && best_column[i] < last_column)) {
        last = bounds[i];
        last_column = best_column[i];
      }
    if (threadIdx.x == 0) write(n, last, last_column);
  }
}

}  // namespace

void top_log_softmax(const TopLogSoftmax& p, CUstream_st* stream) {
  const auto rows = static_cast<unsigned>(p.rows);
  if (rows == 0) return;
  const bool wide = p.columns % 4 == 0 && reinterpret_cast<uintptr_t>(p.logits) % 16 == 0;
  if (p.count == 1)
    top_kernel<false><<<rows, kThreads, 0, stream>>>(p, wide);
  else
    top_kernel<true><<<rows, kThreads, 0, stream>>>(p, wide);
}

}  // namespace heed::kernels::cuda
