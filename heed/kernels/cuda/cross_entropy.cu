#include <cuda_runtime.h>

#include "heed/kernels/cuda/cross_entropy.h"

namespace heed::kernels::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;

/// The logits of one thread: their maximum m, sum of exp(x - m), sum of x.
struct Sums {
  float max = -INFINITY, exps = 0, logits = 0;

  __device__ void add(float x) {
    if (x > max) {  // false for NaN, which then reaches both sums
      exps = exps * expf(max - x) + 1;
      max = x;
    } else {
      exps += max == -INFINITY && x == -INFINITY ? 0 : expf(x - max);
    }
    logits += x;
  }
  __device__ void add(const Sums& other) {
    const float both = fmaxf(max, other.max);
    if (both != -INFINITY) exps = exps * expf(max - both) + other.exps * expf(other.max - both);
    max = both;
    logits += other.logits;
  }
};

/// One block per row.
__global__ void __launch_bounds__(kThreads) forward(CrossEntropy p, float* loss, float* lse) {
  __shared__ float maxima[kWarps], exps[kWarps], logits[kWarps];
  const int64_t row = blockIdx.x, wanted = p.wanted[row];
  if (wanted == p.ignored) {
    if (threadIdx.x == 0) loss[row] = lse[row] = 0;
    return;
  }
  const float* const x = p.logits + row * p.classes;
  Sums own;
  for (int64_t c = threadIdx.x; c < p.classes; c += kThreads) own.add(x[c]);
  for (int step = 16; step > 0; step /= 2) {
    Sums other;
    other.max = __shfl_down_sync(0xffffffffU, own.max, step);
    other.exps = __shfl_down_sync(0xffffffffU, own.exps, step);
    other.logits = __shfl_down_sync(0xffffffffU, own.logits, step);
    own.add(other);
  }
  if (threadIdx.x % 32 == 0) {
    maxima[threadIdx.x / 32] = own.max;
    exps[threadIdx.x / 32] = own.exps;
    logits[threadIdx.x / 32] = own.logits;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kWarps; ++i) own.add({maxima[i], exps[i], logits[i]});
  const float log_sum = own.max + logf(own.exps);
  lse[row] = log_sum;
  const float smooth = p.smoothing == 0 ? 0 : p.smoothing / static_cast<float>(p.classes) * own.logits;
  const bool known = wanted >= 0 && wanted < p.classes;  // no class: the loss is NaN
  loss[row] = known ? log_sum - (1 - p.smoothing) * x[wanted] - smooth : NAN;
}

__global__ void __launch_bounds__(kThreads) backward(CrossEntropy p, const float* lse, const float* grad, float* dx) {
  const int64_t row = blockIdx.x, wanted = p.wanted[row];
  const float* const x = p.logits + row * p.classes;
  float* const out = dx + row * p.classes;
  if (wanted == p.ignored) {
    for (int64_t c = threadIdx.x; c < p.classes; c += kThreads) out[c] = 0;
    return;
  }
  const float g = *grad, log_sum = lse[row], smooth = p.smoothing / static_cast<float>(p.classes);
  for (int64_t c = threadIdx.x; c < p.classes; c += kThreads)
    out[c] = g * (expf(x[c] - log_sum) - smooth - (c == wanted ? 1 - p.smoothing : 0));
}

}  // namespace

void cross_entropy_forward(const CrossEntropy& p, float* loss, float* lse, CUstream_st* stream) {
  if (p.rows > 0) forward<<<static_cast<unsigned>(p.rows), kThreads, 0, stream>>>(p, loss, lse);
}

void cross_entropy_backward(const CrossEntropy& p, const float* lse, const float* grad, float* dx,
                            CUstream_st* stream) {
  if (p.rows > 0) backward<<<static_cast<unsigned>(p.rows), kThreads, 0, stream>>>(p, lse, grad, dx);
}

}  // namespace heed::kernels::cuda
