#include <algorithm>

#include <cuda_runtime.h>

#include "heed/kernels/cuda/flat_step.h"

namespace heed::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kPerPart = kThreads * 16;  // gradients that one block adds before it takes its next ones
constexpr int64_t kMaxParts = 512;

/// Sum over a block in a fixed order; every thread gets it.
__device__ double block_sum(double x, double* shared) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffU, x, step);
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) shared[warp] = x;
  __syncthreads();
  double sum = 0;
  for (int i = 0; i < kThreads / 32; ++i) sum += shared[i];
  __syncthreads();
  return sum;
}

/// parts[b] = sum of the squares of g scale over the elements of block b.
template <typename T>
__global__ void __launch_bounds__(kThreads) add_squares(FlatStep<T> step, double* parts) {
  __shared__ double shared[kThreads / 32];
  const T scale = static_cast<T>(step.scalars->scale);
  double sum = 0;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < step.count; i += int64_t{gridDim.x} * kThreads) {
    const double g = static_cast<double>(step.grads[i] * scale);
    sum += g * g;
  }
  sum = block_sum(sum, shared);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

template <typename T>
__device__ T updated_by_adam(const FlatStep<T>& s, int64_t i, T x, T g, T rate, T first_share, T second_root) {
  const T b1 = static_cast<T>(s.beta1), b2 = static_cast<T>(s.beta2);
  const T m = s.first[i] * b1 + g * static_cast<T>(1 - s.beta1);
  const T v = s.second[i] * b2 + g * g * static_cast<T>(1 - s.beta2);
  s.first[i] = m;
  s.second[i] = v;
  if (s.decay > 0) x *= static_cast<T>(1 - s.decay * rate);
  return x - rate / first_share * (m / (sqrt(v) / second_root + static_cast<T>(s.epsilon)));
}

template <typename T>
__device__ T updated_by_sgd(const FlatStep<T>& s, int64_t i, T x, T g, T rate) {
  if (s.first == nullptr) return x - rate * g;
  const T m = s.first[i] * static_cast<T>(s.beta1) + g;
  s.first[i] = m;
  return x - rate * m;
}

/// Every block adds the parts itself, in the same order, and comes to the same decision.
template <typename T>
__global__ void __launch_bounds__(kThreads) update(FlatStep<T> step, const double* parts, int count) {
  __shared__ double shared[kThreads / 32];
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) sum += parts[i];
  const double norm = sqrt(block_sum(sum, shared));
  const FlatScalars scalars = *step.scalars;
  const double loss = *step.loss * scalars.scale;
  const bool finite = isfinite(norm) && isfinite(loss);
  // Block 0 may have set it already: only because of this step, which is then not finite in this block either.
  const bool halted = *static_cast<const volatile double*>(&step.stats->halted) != 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    step.stats->loss = loss;
    step.stats->norm = norm;
    if (!finite) step.stats->halted = 1;
  }
  if (!finite || halted) return;
  const bool clips = step.clip_norm > 0 && norm > step.clip_norm;
  const T scale = static_cast<T>(scalars.scale), clip = static_cast<T>(clips ? step.clip_norm / norm : 1);
  const T rate = static_cast<T>(scalars.rate), first_share = static_cast<T>(scalars.first_share),
          second_root = static_cast<T>(scalars.second_root), weight = static_cast<T>(scalars.average_weight);
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < step.count; i += int64_t{gridDim.x} * kThreads) {
    const T g = step.grads[i] * scale * clip, x = step.values[i];
    const T next = step.rule == FlatRule::adam ? updated_by_adam(step, i, x, g, rate, first_share, second_root)
                                               : updated_by_sgd(step, i, x, g, rate);
    step.values[i] = next;
    if (step.average != nullptr) step.average[i] += weight * (next - step.average[i]);
  }
}

}  // namespace

size_t flat_step_parts(int64_t count) {
  return static_cast<size_t>(std::clamp<int64_t>((count + kPerPart - 1) / kPerPart, 1, kMaxParts));
}

template <typename T>
void flat_step(const FlatStep<T>& step, double* parts, CUstream_st* stream) {
  const auto blocks = static_cast<unsigned>(flat_step_parts(step.count));
  add_squares<T><<<blocks, kThreads, 0, stream>>>(step, parts);
  const auto wide = static_cast<unsigned>(std::clamp<int64_t>((step.count + kThreads - 1) / kThreads, 1, 4096));
  update<T><<<wide, kThreads, 0, stream>>>(step, parts, static_cast<int>(blocks));
}

template void flat_step<float>(const FlatStep<float>&, double*, CUstream_st*);
template void flat_step<double>(const FlatStep<double>&, double*, CUstream_st*);

}  // namespace heed::kernels::cuda
