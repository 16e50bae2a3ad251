// Inputs in the layout of the tiles: panels of 64 rows, [tile][feature][64 rows], features padded to a multiple of 4.
//
// The additive score is computed in factors,  w . tanh(q + k) = sum(w) - 2 sum_f w_f / (1 + Eq_f Ek_f),  E = exp(2 x).
// With u = w / max|w| folded into the query, each term is 1 / d with d = 1/u + (Eq/u) Ek, and four terms share one
// reciprocal: their numerator takes additions and products of the d alone.

#pragma once

#include "heed/kernels/cuda/device.cuh"
#include "heed/kernels/cuda/launch.h"

namespace heed::kernels::cuda {

inline constexpr int kTile = 64;      // queries, and keys, of a tile
inline constexpr int kChunk = 32;     // features of a tile in shared memory at once
inline constexpr int kThreads = 256;  // 16 x 16, each with 4 x 4 pairs
inline constexpr int kStage = kChunk * kTile;

HEED_INLINE int padded(int64_t features) {
  return static_cast<int>((features + 3) / 4 * 4);
}
constexpr int tiles_of(int64_t rows) {
  return static_cast<int>((rows + kTile - 1) / kTile);
}

/// Constants of the folded additive score of one head: score = first + factor sum_f 1 / d_f.
struct FoldedScore {
  float first, factor;
};

/// One tensor to bring into panels.
struct PanelJob {
  Rows<const float> rows{};
  int heads = 0, length = 0, width = 0;
  bool exponential = false;            // exp(2 x) in place of x
  bool folded = false;                 // divided by u of the head
  const int64_t* key_count = nullptr;  // [batch]: rows from there on are 0
  bool none_only = false;              // rows are 0 only if key_count is 0: queries
  float* panels = nullptr;             // [batch * heads][tile][padded][64]
  float* largest = nullptr;            // [batch * heads][tile][padded]: largest magnitude over the rows; null: unused
};
struct PanelJobs {
  PanelJob jobs[4];
  int first_block[5] = {};  // of each job
  int count = 0;
};

/// Everything that the score of a tile needs.
struct Panels {
  float *query = nullptr, *keys = nullptr;          // panels
  float *query_max = nullptr, *keys_max = nullptr;  // additive: PanelJob::largest
  float* fold = nullptr;                            // additive: [heads][padded]
  FoldedScore* folded = nullptr;                    // additive: [heads]
};

/// Takes memory for the panels of query and keys and adds their jobs.
Panels take_panels(const Problem<float>& p, Workspace& workspace, PanelJobs& jobs);
PanelJob panel_job(const Problem<float>& p, const Rows<const float>& rows, int64_t heads, int64_t length, int64_t width,
                   Workspace& workspace);
void add_job(PanelJobs& jobs, const PanelJob& job, int64_t batch);
/// Launches the kernel that fills fold and panels.
void fill_panels(const Problem<float>& p, const Panels& panels, const PanelJobs& jobs, Stream stream);

// Device code of tiles. A thread (x, y) has queries 4 y ... 4 y + 3 and keys 4 x ... 4 x + 3 of its tile.

__device__ __forceinline__ void load_stage(float* to, const float* from, int features) {
  for (int n = static_cast<int>(threadIdx.x) * 4; n < features * kTile; n += kThreads * 4) copy_16(to + n, from + n);
}

/// sums[i][j] += sum over features of a_i b_j.
__device__ __forceinline__ void add_products(float (&sums)[4][4], const float* a, const float* b, int features, int x,
                                             int y) {
#pragma unroll 4
  for (int f = 0; f < features; ++f) {
    const float4 qs = *reinterpret_cast<const float4*>(a + f * kTile + 4 * y);
    const float4 ks = *reinterpret_cast<const float4*>(b + f * kTile + 4 * x);
    const float q[4] = {qs.x, qs.y, qs.z, qs.w}, k[4] = {ks.x, ks.y, ks.z, ks.w};
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[i][j] = fmaf(q[i], k[j], sums[i][j]);
  }
}

/// sums[i][j] += sum over features of 1 / (fold_f + a_i b_j), four features with one reciprocal.
__device__ __forceinline__ void add_folded(float (&sums)[4][4], const float* a, const float* b, const float* fold,
                                           int features, int x, int y) {
#pragma unroll 1
  for (int f = 0; f < features; f += 4) {
    float q[4][4], k[4][4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      *reinterpret_cast<float4*>(q[u]) = *reinterpret_cast<const float4*>(a + (f + u) * kTile + 4 * y);
      *reinterpret_cast<float4*>(k[u]) = *reinterpret_cast<const float4*>(b + (f + u) * kTile + 4 * x);
    }
    const float4 c = *reinterpret_cast<const float4*>(fold + f);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float d0 = fmaf(q[0][i], k[0][j], c.x), d1 = fmaf(q[1][i], k[1][j], c.y);
        const float d2 = fmaf(q[2][i], k[2][j], c.z), d3 = fmaf(q[3][i], k[3][j], c.w);
        const float n01 = d0 + d1, e01 = d0 * d1, n23 = d2 + d3, e23 = d2 * d3;
        sums[i][j] = fmaf(fmaf(n01, e23, n23 * e01), reciprocal(e01 * e23), sums[i][j]);
      }
  }
}

/// Whether the products of four d of a tile could overflow; the same answer in all threads. Contains a barrier.
__device__ __forceinline__ bool out_of_range(const float* query_max, const float* keys_max, const float* fold,
                                             int features) {
  constexpr float kLimit = 0x1p120F;
  bool out = false;
  for (int f = static_cast<int>(threadIdx.x) * 4; f < features; f += kThreads * 4) {
    float product = 1;
    for (int u = 0; u < 4; ++u) product *= fabsf(fold[f + u]) + query_max[f + u] * keys_max[f + u];
    out = out || !(product < kLimit);
  }
  return __syncthreads_or(out) != 0;
}

/// The scores of a tile from a + b directly, right for every range: for the rare tile that is out of range.
static __device__ __noinline__ void scores_in_any_range(const Problem<float>& p, int b, int h, int first_query,
                                                        int first_key, int limit, float (&scores)[4][4]) {
  const int x = threadIdx.x % 16, y = threadIdx.x / 16, width = static_cast<int>(p.width);
  const float* w = weights_of_head(p, h);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int query = first_query + 4 * y + i, key = first_key + 4 * x + j;
      float sum = 0;
      if (query < p.queries && key < limit) {
        const float* q = p.query.at(b, h, query);
        const float* k = p.key_rows.at(b, h / p.group(), key);
        for (int f = 0; f < width; ++f) sum += w[f] * fmaf(-2.0F, tanh_ratio(q[f] + k[f]), 1.0F);
      }
      scores[i][j] = sum;
    }
}

}  // namespace heed::kernels::cuda
