#include <cmath>

#include <cuda_runtime.h>

#include "heed/kernels/cuda/top_log_softmax.h"

namespace heed::kernels::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kNone = 0x7FFFFFFF;

struct Entry {
  float value = -INFINITY;
  int column = kNone;
  __device__ bool before(const Entry& other) const {
    return value > other.value || (value == other.value && column < other.column);
  }
};

__device__ Entry best_of_warp(Entry own) {
  for (int step = 16; step > 0; step /= 2) {
    const Entry other{__shfl_xor_sync(0xFFFFFFFFU, own.value, step), __shfl_xor_sync(0xFFFFFFFFU, own.column, step)};
    if (other.before(own)) own = other;
  }
  return own;
}

/// One block for each row. A thread keeps the kTop best of its columns, sorted; then the best of all is taken kTop
/// times.
template <int kTop>
__global__ void __launch_bounds__(kThreads) top_kernel(const TopLogSoftmax p) {
  __shared__ float maxima[kWarps], sums[kWarps], values[kWarps];
  __shared__ int columns[kWarps];
  const int64_t row = blockIdx.x;
  const float* x = p.logits + row * p.columns;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Entry top[kTop];
  float max = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < p.columns; c += kThreads) {
    const float logit = x[c];
    if (logit > max) {  // false for NaN, which then reaches the sum
      sum = sum * expf(max - logit) + 1;
      max = logit;
    } else if (logit != -INFINITY) {
      sum += expf(logit - max);
    }
    if (!(logit > top[kTop - 1].value)) continue;
    bool excluded = false;
    for (int e = 0; e < kMaxExcluded; ++e) excluded = excluded || c == p.excluded[e];
    if (excluded) continue;
    top[kTop - 1] = {logit, c};
#pragma unroll
    for (int i = kTop - 1; i > 0; --i)
      if (top[i].before(top[i - 1])) {
        const Entry swapped = top[i];
        top[i] = top[i - 1];
        top[i - 1] = swapped;
      }
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xFFFFFFFFU, max, step), more = __shfl_xor_sync(0xFFFFFFFFU, sum, step);
    const float both = fmaxf(max, other);
    if (both != -INFINITY) sum = sum * expf(max - both) + more * expf(other - both);
    max = both;
  }
  if (lane == 0) {
    maxima[warp] = max;
    sums[warp] = sum;
  }
  __syncthreads();
  max = maxima[0];
  for (int i = 1; i < kWarps; ++i) max = fmaxf(max, maxima[i]);
  sum = 0;
  for (int i = 0; i < kWarps; ++i) sum += maxima[i] == -INFINITY && sums[i] == 0 ? 0 : sums[i] * expf(maxima[i] - max);
  const float lse = max + logf(sum);
  for (int n = 0; n < p.count; ++n) {
    const Entry own = best_of_warp(top[0]);
    if (lane == 0) {
      values[warp] = own.value;
      columns[warp] = own.column;
    }
    __syncthreads();
    Entry best{values[0], columns[0]};
    for (int i = 1; i < kWarps; ++i) {
      const Entry other{values[i], columns[i]};
      if (other.before(best)) best = other;
    }
    if (threadIdx.x == 0) {
      p.best[row * p.count + n] = best.value - lse;
      p.which[row * p.count + n] = best.column == kNone ? 0 : best.column;
    }
    if (top[0].column == best.column && best.column != kNone) {
#pragma unroll
      for (int i = 0; i + 1 < kTop; ++i) top[i] = top[i + 1];
      top[kTop - 1] = Entry{};
    }
    __syncthreads();
  }
}

}  // namespace

void top_log_softmax(const TopLogSoftmax& p, CUstream_st* stream) {
  const auto rows = static_cast<unsigned>(p.rows);
  if (rows == 0) return;
  if (p.count == 1)
    top_kernel<1><<<rows, kThreads, 0, stream>>>(p);
  else if (p.count <= 6)
    top_kernel<6><<<rows, kThreads, 0, stream>>>(p);
  else
    top_kernel<kMaxTop><<<rows, kThreads, 0, stream>>>(p);
}

}  // namespace heed::kernels::cuda
