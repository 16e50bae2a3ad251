// Forward of one query with the dot product, as in decoding from a cache: one warp for each head. The softmax is
// online.
//
// Rows of up to 128 features that can be read 16 bytes at a time: as many lanes as a row has words read key and value
// together, several keys ahead, and have a softmax of their own; the groups are joined at the end. Others: a lane has
// one key of 32 at a time, then columns of the values.

#include "heed/kernels/cuda/device.cuh"
#include "heed/kernels/cuda/launch.h"

namespace heed::kernels::cuda {
namespace {

constexpr int kThreads = 128, kWarps = kThreads / 32;
constexpr int kColumns = 8;  // of a lane, 32 apart

/// kLanes: of a group.
template <int kLanes, bool kSteps>
__global__ void __launch_bounds__(kThreads) wide_kernel(const __grid_constant__ Problem<float> p) {
  constexpr int kGroups = 32 / kLanes, kAhead = 4;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;  // of batch and heads
  if (row >= p.batch * p.heads) return;
  const int lane = threadIdx.x % kLanes, group = threadIdx.x % 32 / kLanes;
  const int b = static_cast<int>(row / p.heads), h = static_cast<int>(row % p.heads);
  const int64_t kh = h / p.group();
  const int limit = key_limit(p, b), f = 4 * lane;
  const bool of_key = f < p.width, of_value = f < p.value_width;
  const auto read = [](const float* from, bool there) {
    return there ? *reinterpret_cast<const float4*>(from) : float4{};
  };
  const float4 query = read(p.query.at(b, h, 0) + f, of_key);
  float max = -INFINITY, sum = 0;
  float4 context{};
  for (int first = group; first - group < limit; first += kGroups * kAhead) {  // all lanes of the warp together
    float4 key[kAhead], value[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const int j = first + u * kGroups;
      key[u] = read(p.key_rows.at(b, kh, j) + f, of_key && j < limit);
      value[u] = read(p.values.at(b, kh, j) + f, of_value && j < limit);
    }
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const int j = first + u * kGroups;
      const float4 q = query, k = key[u], v = value[u];
      float score = sum_of_lanes<kLanes>(fmaf(q.w, k.w, fmaf(q.z, k.z, fmaf(q.y, k.y, q.x * k.x)))), derivative;
      if (j >= limit) continue;
      if constexpr (kSteps) score = after_score(p, b, h, 0, j, score, derivative);
      score *= kLog2E;
      const float larger = fmaxf(max, score), from = larger == -INFINITY ? 0.0F : larger;
      const float by = exp2_approx(max - from), own = exp2_approx(score - from);
      max = larger;
      sum = fmaf(sum, by, own);
      const float weight = p.dropout > 0 ? own * dropout_factor(p, b, h, 0, j) : own;
      context.x = fmaf(context.x, by, weight * v.x);
      context.y = fmaf(context.y, by, weight * v.y);
      context.z = fmaf(context.z, by, weight * v.z);
      context.w = fmaf(context.w, by, weight * v.w);
    }
  }
#pragma unroll
  for (int step = kLanes; step < 32; step *= 2) {
    const auto other = [&](float x) { return __shfl_xor_sync(0xFFFFFFFFU, x, step); };
    const float its_max = other(max), larger = fmaxf(max, its_max), from = larger == -INFINITY ? 0.0F : larger;
    const float mine = exp2_approx(max - from), its = exp2_approx(its_max - from);
    const auto both = [&](float x) {
      const float its_x = other(x);
      return (step & static_cast<int>(threadIdx.x)) == 0 ? fmaf(x, mine, its_x * its) : fmaf(its_x, its, x * mine);
    };
    sum = both(sum);
    context.x = both(context.x);
    context.y = both(context.y);
    context.z = both(context.z);
    context.w = both(context.w);
    max = larger;
  }
  const float normalized = sum == 0 ? 0.0F : 1.0F / sum;
  if (group == 0 && of_value)
    *reinterpret_cast<float4*>(p.context + row * p.value_width + f) =
        make_float4(context.x * normalized, context.y * normalized, context.z * normalized, context.w * normalized);
  if (threadIdx.x % 32 != 0) return;
  RowStats<float> stats;
  stats.max = max == -INFINITY ? 0.0F : max;
  stats.sum = sum;
  p.rows[row] = stats;
}

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
  constexpr int64_t kManyHeads = 512;  // fewer need more threads for each
  return p.score == ScoreKind::dot && p.queries == 1 && p.value_width <= 32 * kColumns &&
         p.batch * p.heads >= kManyHeads;
}

void forward(const Problem<float>& p, Stream stream) {
  const auto blocks = static_cast<unsigned>(divided_up(p.batch * p.heads, kWarps));
  const bool wide = copied_wide(p.query, p.width) && copied_wide(p.key_rows, p.width);
  const int64_t widest = p.width > p.value_width ? p.width : p.value_width;
  if (wide && copied_wide(p.values, p.value_width) && reinterpret_cast<uintptr_t>(p.context) % 16 == 0 &&
      widest <= 128) {
    const auto launch = [&](auto* plain, auto* steps) {
      (has_steps(p) ? steps : plain)<<<blocks, kThreads, 0, stream>>>(p);
    };
    if (widest <= 32)
      launch(wide_kernel<8, false>, wide_kernel<8, true>);
    else if (widest <= 64)
      launch(wide_kernel<16, false>, wide_kernel<16, true>);
    else
      launch(wide_kernel<32, false>, wide_kernel<32, true>);
    return;
  }
  if (has_steps(p))
    one_query_kernel<true><<<blocks, kThreads, 0, stream>>>(p, wide);
  else
    one_query_kernel<false><<<blocks, kThreads, 0, stream>>>(p, wide);
}

}  // namespace one_query
}  // namespace heed::kernels::cuda
