#include <cmath>

#include <cuda_runtime.h>

#include "heed/kernels/cuda/beams.h"
#include "heed/kernels/cuda/launch.h"

namespace heed::kernels::cuda {
namespace {

constexpr int kWarps = 4, kThreads = 32 * kWarps;

/// One warp for a sentence. A candidate's rank is the number of those before it.
__global__ void __launch_bounds__(kThreads) choose_kernel(const __grid_constant__ ChooseBeams p) {
  __shared__ double shared_sums[kWarps][kMaxCandidates];
  __shared__ bool shared_ends[kWarps][kMaxCandidates];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, all = p.beams * p.each;
  const int64_t s = static_cast<int64_t>(blockIdx.x) * kWarps + warp;
  if (s >= p.sentences) return;
  double* sums = shared_sums[warp];
  bool* ends = shared_ends[warp];
  for (int i = lane; i < all; i += 32) sums[i] = p.before[s * p.beams + i / p.each] + p.best[s * all + i];
  __syncwarp();
  const auto before = [&](int i, int j) {
    const double a = sums[i], b = sums[j];
    if (isnan(a) || isnan(b)) return isnan(a) && (!isnan(b) || i < j);
    return a > b || (a == b && i < j);
  };
  for (int i = lane; i < all; i += 32) {
    int rank = 0;
    for (int j = 0; j < all; ++j) rank += j != i && before(j, i) ? 1 : 0;
    if (rank >= p.count) continue;
    const int64_t token = p.which[s * all + i], to = s * p.count + rank;
    p.log_probability[to] = sums[i];
    p.beam[to] = i / p.each;
    p.token[to] = token;
    ends[rank] = token == p.end;
  }
  __syncwarp();
  int going = 0;
  for (int i = 0; i < p.count; ++i) going += ends[i] ? 0 : 1;
  for (int i = lane; i < p.count; i += 32) {
    int rank = ends[i] ? going : 0;
    for (int j = 0; j < i; ++j) rank += ends[j] == ends[i] ? 1 : 0;
    if (rank >= p.next) continue;
    const int64_t from = s * p.count + i, to = s * p.next + rank;
    p.after[to] = ends[i] ? -INFINITY : p.log_probability[from];
    p.last_token[to] = p.token[from];
    if (p.row != nullptr) p.row[to] = s * p.beams + p.beam[from];
  }
}

/// A thread has 16 bytes of every row of a group: it reads all of them before it writes one.
__global__ void __launch_bounds__(256) move_kernel(const __grid_constant__ MoveRows p) {
  const int64_t row = p.heads * p.capacity * p.width, words = row / 4;
  const int64_t word = static_cast<int64_t>(blockIdx.y) * blockDim.x + threadIdx.x, group = blockIdx.x;
  const int64_t at = word * 4 / p.width % p.capacity;
  if (word >= words || at >= *p.length) return;
  float* cache = p.cache[blockIdx.z] + group * p.beams * row + word * 4;
  const int64_t* rows = p.rows + group * p.beams;
  float4 all[kMaxBeams];
#pragma unroll
  for (int n = 0; n < kMaxBeams; ++n)
    if (n < p.beams) all[n] = *reinterpret_cast<const float4*>(cache + (rows[n] - group * p.beams) * row);
#pragma unroll
  for (int n = 0; n < kMaxBeams; ++n)
    if (n < p.beams && rows[n] != group * p.beams + n) *reinterpret_cast<float4*>(cache + n * row) = all[n];
}

}  // namespace

void choose_beams(const ChooseBeams& p, CUstream_st* stream) {
  if (p.sentences == 0) return;
  choose_kernel<<<static_cast<unsigned>(divided_up(p.sentences, kWarps)), kThreads, 0, stream>>>(p);
}

void move_rows(const MoveRows& p, CUstream_st* stream) {
  const int64_t words = p.heads * p.capacity * p.width / 4;
  if (p.groups == 0 || words == 0 || p.caches == 0) return;
  const dim3 blocks(static_cast<unsigned>(p.groups), static_cast<unsigned>(divided_up(words, 256)),
                    static_cast<unsigned>(p.caches));
  move_kernel<<<blocks, 256, 0, stream>>>(p);
}

}  // namespace heed::kernels::cuda
