// Forward of one query with the dot product, as in decoding from a cache: one warp for each head. A lane has one key of
// 32 at a time, then columns of the values; the softmax is online.

#include "heed/kernels/cuda/device.cuh"
#include "heed/kernels/cuda/launch.h"

namespace heed::kernels::cuda {
namespace {

constexpr int kThreads = 128, kWarps = kThreads / 32;
constexpr int kColumns = 8;  // of a lane, 32 apart

template <bool kSteps>
__global__ void __launch_bounds__(kThreads) one_query_kernel(const __grid_constant__ Problem<float> p, bool wide) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;  // of batch and heads
  if (row >= p.batch * p.heads) return;
  const int lane = threadIdx.x % 32, b = static_cast<int>(row / p.heads), h = static_cast<int>(row % p.heads);
  const int64_t kh = h / p.group();
  const int limit = key_limit(p, b), width = static_cast<int>(p.width), value_width = static_cast<int>(p.value_width);
  const float* query = p.query.at(b, h, 0);
  float max = -INFINITY, sum = 0, context[kColumns] = {};
  for (int first = 0; first < limit; first += 32) {
    const int j = first + lane;
    float score = -INFINITY;
    if (j < limit) {
      const float* key = p.key_rows.at(b, kh, j);
      score = 0;
      if (wide) {
#pragma unroll 4
        for (int f = 0; f < width; f += 4) {
          const float4 q = *reinterpret_cast<const float4*>(query + f), k = *reinterpret_cast<const float4*>(key + f);
          score = fmaf(q.w, k.w, fmaf(q.z, k.z, fmaf(q.y, k.y, fmaf(q.x, k.x, score))));
        }
      } else {
        for (int f = 0; f < width; ++f) score = fmaf(query[f], key[f], score);
      }
      float derivative;
      if constexpr (kSteps) score = after_score(p, b, h, 0, j, score, derivative);
      score *= kLog2E;
    }
    const float larger = fmaxf(max, max_of_lanes<32>(score)), from = larger == -INFINITY ? 0.0F : larger;
    const float by = exp2_approx(max - from), own = exp2_approx(score - from);
    max = larger;
    sum = fmaf(sum, by, own);
    const float weight = p.dropout > 0 && j < limit ? own * dropout_factor(p, b, h, 0, j) : own;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) context[c] *= by;
    const int count = min(32, limit - first);
    for (int k = 0; k < count; ++k) {
      const float* value = p.values.at(b, kh, first + k);
      const float mine = __shfl_sync(0xFFFFFFFFU, weight, k);
#pragma unroll
      for (int c = 0; c < kColumns; ++c)
        if (lane + 32 * c < value_width) context[c] = fmaf(mine, value[lane + 32 * c], context[c]);
    }
  }
  sum = sum_of_lanes<32>(sum);
  const float normalized = sum == 0 ? 0.0F : 1.0F / sum;
#pragma unroll
  for (int c = 0; c < kColumns; ++c)
    if (lane + 32 * c < value_width) p.context[row * value_width + lane + 32 * c] = context[c] * normalized;
  if (lane != 0) return;
  RowStats<float> stats;
  stats.max = max == -INFINITY ? 0.0F : max;
  stats.sum = sum;
  p.rows[row] = stats;
}

}  // namespace

namespace one_query {

bool fits(const Problem<float>& p) {
  constexpr int64_t kManyHeads = 2048;  // fewer need more threads for each
  return p.score == ScoreKind::dot && p.queries == 1 && p.value_width <= 32 * kColumns &&
         p.batch * p.heads >= kManyHeads;
}

void forward(const Problem<float>& p, Stream stream) {
  const auto blocks = static_cast<unsigned>(divided_up(p.batch * p.heads, kWarps));
  const bool wide = copied_wide(p.query, p.width) && copied_wide(p.key_rows, p.width);
  if (has_steps(p))
    one_query_kernel<true><<<blocks, kThreads, 0, stream>>>(p, wide);
  else
    one_query_kernel<false><<<blocks, kThreads, 0, stream>>>(p, wide);
}

}  // namespace one_query
}  // namespace heed::kernels::cuda
