// Small pieces of device code that every kernel here uses.

#pragma once

#include <cmath>
#include <cstdint>

#include "heed/base/philox.h"
#include "heed/kernels/problem.h"

namespace heed::kernels::cuda {

inline constexpr float kLog2E = 1.44269504088896340736F, kLn2 = 0.69314718055994530942F;

// Two instructions of the special function unit. With .ftz they are one instruction each; without it, the compiler adds
// several to treat subnormal numbers, which count as 0 here.
__device__ __forceinline__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// 1 / (1 + exp(2 x)), so that tanh(x) = 1 - 2 r and its derivative is 4 (r - r^2). Right for every x: exp may be inf.
__device__ __forceinline__ float tanh_ratio(float x) {
  return reciprocal(1.0F + exp2_approx(2.0F * kLog2E * x));
}

// Copies to shared memory that do not wait. bytes = 0 writes zeros.
__device__ __forceinline__ uint32_t shared_address(const void* to) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(to));
}
__device__ __forceinline__ void copy_16(void* to, const void* from, bool there = true) {
  const int bytes = there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes));
}
__device__ __forceinline__ void copy_4(void* to, const void* from, bool there = true) {
  const int bytes = there ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes));
}
__device__ __forceinline__ void copies_end_group() {
  asm volatile("cp.async.commit_group;");
}
template <int kGroups>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups));
}

/// Sum and maximum over groups of kLanes neighboring lanes, the same bits in each of them.
template <int kLanes>
__device__ __forceinline__ float sum_of_lanes(float x) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xFFFFFFFFU, x, step);
  return x;
}
template <int kLanes>
__device__ __forceinline__ float max_of_lanes(float x) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFU, x, step));
  return x;
}

/// Keys [first, last) that queries [from, to) of a batch element may attend, as far as key_count, causal and the window
/// tell; `keep` may mask more.
struct KeyRange {
  int first, last;
};
__device__ __forceinline__ int key_limit(const Problem<float>& p, int b) {
  const int keys = static_cast<int>(p.keys);
  return p.mask.key_count == nullptr ? keys : static_cast<int>(min(static_cast<int64_t>(keys), p.mask.key_count[b]));
}
__device__ __forceinline__ KeyRange key_range(const Problem<float>& p, int b, int from, int to) {
  int64_t first = 0, last = key_limit(p, b);
  if (p.mask.causal) last = min(last, p.mask.first_position + to);
  if (p.mask.left >= 0) first = max(first, p.mask.first_position + from - p.mask.left);
  if (p.mask.right >= 0) last = min(last, p.mask.first_position + to + p.mask.right);
  if (last < first) last = first;
  return {static_cast<int>(first), static_cast<int>(last)};
}

/// Whether scores of pairs are changed after the product, or masked within a range of keys.
HEED_INLINE bool has_steps(const Problem<float>& p) {
  return p.scale != 1 || p.soft_cap > 0 || p.bias.any() || p.mask.keep || p.mask.causal || p.mask.left >= 0 ||
         p.mask.right >= 0;
}

/// scale -> soft cap -> biases -> mask for the score of one pair inside the key limit; -inf: masked. `derivative`
/// receives that of the result with respect to the score.
__device__ __forceinline__ float after_score(const Problem<float>& p, int b, int h, int i, int j, float score,
                                             float& derivative) {
  float e = score * p.scale;
  derivative = p.scale;
  if (p.soft_cap > 0) {
    const float t = tanhf(e / p.soft_cap);
    e = p.soft_cap * t;
    derivative *= 1.0F - t * t;
  }
  const int64_t position = i + p.mask.first_position;
  if (p.bias.any()) {
    if (p.bias.full) e += *p.bias.full.at(b, h, i, j);
    if (p.bias.per_key) e += *p.bias.per_key.at(b, h, 0, j);
    if (p.bias.relative != nullptr) {
      const int64_t reach = p.bias.relative_reach;
      e += p.bias.relative[h * p.bias.relative_head + max(-reach, min(reach, j - position)) + reach];
    }
    if (p.bias.alibi != nullptr) {
      const int64_t distance = j > position ? j - position : position - j;
      e -= p.bias.alibi[h] * static_cast<float>(distance);
    }
  }
  bool kept = true;
  if (p.mask.causal) kept = j <= position;
  if (p.mask.left >= 0) kept = kept && j >= position - p.mask.left;
  if (p.mask.right >= 0) kept = kept && j <= position + p.mask.right;
  if (p.mask.keep) kept = kept && *p.mask.keep.at(b, h, i, j) != 0;
  return kept ? e : -INFINITY;
}

/// 0 or 1 / (1 - rate) for keys j ... j + 3 of a query; j is divisible by 4. The numbers of base/philox.h.
__device__ __forceinline__ float4 dropout_factors(const Problem<float>& p, int b, int h, int i, int j) {
  const uint64_t seed = p.seed_at == nullptr ? p.seed : *p.seed_at;
  const Philox r = philox(seed, static_cast<uint32_t>(j / 4), static_cast<uint32_t>(p.first_query + i),
                          static_cast<uint32_t>((p.first_row + b) * p.heads + h), stream_word(p.stream, kDropout));
  const float factor = 1.0F / (1.0F - p.dropout);
  const auto of = [&](uint32_t word) { return unit(word) >= p.dropout ? factor : 0.0F; };
  return {of(r.word[0]), of(r.word[1]), of(r.word[2]), of(r.word[3])};
}
__device__ __forceinline__ float dropout_factor(const Problem<float>& p, int b, int h, int i, int j) {
  const float4 four = dropout_factors(p, b, h, i, j & ~3);
  return (j & 3) == 0 ? four.x : (j & 3) == 1 ? four.y : (j & 3) == 2 ? four.z : four.w;
}

/// Score of a query and a key, by kLanes lanes together; each of them gets it. wide: rows are read 16 bytes at a time.
template <ScoreKind kScore, int kLanes>
__device__ __forceinline__ float pair_score(const float* query, const float* key, const float* w, int width, int lane,
                                            bool wide = false) {
  float sum = 0;
  const auto add = [&](float q, float k, float by) {
    if constexpr (kScore == ScoreKind::additive)
      sum = fmaf(by, fmaf(-2.0F, tanh_ratio(q + k), 1.0F), sum);
    else
      sum = fmaf(q, k, sum);
  };
  if (wide) {
#pragma unroll 4
    for (int f = 4 * lane; f < width; f += 4 * kLanes) {
      const float4 q = *reinterpret_cast<const float4*>(query + f), k = *reinterpret_cast<const float4*>(key + f);
      float4 by{};
      if constexpr (kScore == ScoreKind::additive) by = *reinterpret_cast<const float4*>(w + f);
      add(q.x, k.x, by.x);
      add(q.y, k.y, by.y);
      add(q.z, k.z, by.z);
      add(q.w, k.w, by.w);
    }
  } else {
#pragma unroll 4
    for (int f = lane; f < width; f += kLanes) add(query[f], key[f], kScore == ScoreKind::additive ? w[f] : 0.0F);
  }
  return sum_of_lanes<kLanes>(sum);
}

/// By one warp: scores of a query (times log2 e, in shared memory) become its weights, with dropout; writes its
/// RowStats.
__device__ __forceinline__ void align_row(const Problem<float>& p, int b, int h, int i, float* row, int limit) {
  const int lane = threadIdx.x % 32;
  float max = -INFINITY, sum = 0;
  for (int j = lane; j < limit; j += 32) max = fmaxf(max, row[j]);
  max = max_of_lanes<32>(max);
  const float from = max == -INFINITY ? 0.0F : max;
  for (int j = lane; j < limit; j += 32) sum += row[j] = exp2_approx(row[j] - from);
  sum = sum_of_lanes<32>(sum);
  const float by = sum == 0 ? 0.0F : 1.0F / sum;
  for (int j = lane; j < limit; j += 32) row[j] *= p.dropout > 0 ? by * dropout_factor(p, b, h, i, j) : by;
  if (lane != 0) return;
  RowStats<float> stats;
  stats.max = from;
  stats.sum = sum;
  p.rows[p.row_index(b, h, i)] = stats;
}

/// w of head h.
__device__ __forceinline__ const float* weights_of_head(const Problem<float>& p, int h) {
  return p.to_scores + h * p.to_scores_head;
}

}  // namespace heed::kernels::cuda
