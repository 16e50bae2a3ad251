// Forward over tiles of 64 queries x 64 keys with an online softmax. Long rows are split by keys, and the parts merged.

#include <algorithm>

#include "heed/kernels/cuda/panels.cuh"

namespace heed::kernels::cuda {
namespace {

constexpr int kBlocks = 264;  // that splitting aims at: two for each multiprocessor of an H100 or H200
constexpr int kMaxSplits = 16;
constexpr int kWeightRow = kTile + 4;

struct ForwardParts {
  Panels panels;
  int splits, tiles_per_split, query_tiles, key_tiles, column_blocks;
  float* context = nullptr;  // [splits][batch * heads][queries][value_width], not normalized; null: one split
  float2* rows = nullptr;    // [splits][batch * heads][queries]: max and sum
};

/// Copies rows [first, limit) of the values, columns [column, column + kColumns), to shared memory; 0 beyond.
template <int kColumns>
__device__ __forceinline__ void load_values(float* to, const Rows<const float>& values, int b, int kh, int first,
                                            int limit, int column, int width, bool wide) {
  if (wide) {  // a thread has one group of 4 columns, and every kRows-th row
    constexpr int kAcross = kColumns / 4, kRows = kThreads / kAcross;
    const int c = static_cast<int>(threadIdx.x) % kAcross * 4, own = static_cast<int>(threadIdx.x) / kAcross;
    const bool column_there = column + c < width;
    const float* from = values.at(b, kh, first + own) + column + c;
    float* at = to + own * kColumns + c;
#pragma unroll
    for (int row = 0; row < kTile; row += kRows) {
      const bool there = column_there && first + own + row < limit;
      copy_16(at + row * kColumns, there ? from : values.data, there);
      from += kRows * values.row;
    }
  } else {
    for (int n = threadIdx.x; n < kTile * kColumns; n += kThreads) {
      const int row = n / kColumns, c = n % kColumns;
      const bool there = first + row < limit && column + c < width;
      copy_4(to + row * kColumns + c, there ? values.at(b, kh, first + row) + column + c : values.data, there);
    }
  }
}

template <ScoreKind kScore, int kColumns, bool kSteps>
__global__ void __launch_bounds__(kThreads, 2)
    forward_kernel(const __grid_constant__ Problem<float> p, const __grid_constant__ ForwardParts parts, bool wide) {
  constexpr int kOwn = kColumns / 16;  // columns of the context of a thread: 4 neighbors, and 64 further on the next
  extern __shared__ __align__(16) float memory[];
  float *stages = memory, *values = stages + 4 * kStage, *weights = values + kTile * kColumns;
  float* fold = weights + kTile * kWeightRow;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int split = blockIdx.y, column = static_cast<int>(blockIdx.z) * kColumns;
  const int query_tile = static_cast<int>(blockIdx.x) % parts.query_tiles;
  const int bh = static_cast<int>(blockIdx.x) / parts.query_tiles, h = bh % static_cast<int>(p.heads);
  const int b = bh / static_cast<int>(p.heads), kh = h / static_cast<int>(p.group());
  const int first_query = query_tile * kTile, queries = static_cast<int>(p.queries), limit = key_limit(p, b);
  const int features = padded(p.width), chunks = (features + kChunk - 1) / kChunk;
  const KeyRange range = key_range(p, b, first_query, min(first_query + kTile, queries));
  const int first = max(range.first / kTile, split * parts.tiles_per_split);
  const int last = min((range.last + kTile - 1) / kTile, (split + 1) * parts.tiles_per_split);
  const int steps = max(last - first, 0) * chunks;
  const float* query_panel =
      parts.panels.query + (static_cast<int64_t>(bh) * parts.query_tiles + query_tile) * features * kTile;
  const int64_t key_head = b * p.key_heads + kh;
  const float* key_panels = parts.panels.keys + key_head * parts.key_tiles * features * kTile;
  FoldedScore folded{};
  if constexpr (kScore == ScoreKind::additive) {
    folded = parts.panels.folded[h];
    for (int f = threadIdx.x; f < features; f += kThreads) fold[f] = parts.panels.fold[h * features + f];
  }
  const auto fetch = [&](int step) {
    if (step < steps) {
      const int tile = first + step / chunks, chunk = step % chunks, count = min(kChunk, features - chunk * kChunk);
      float* to = stages + (step & 1) * 2 * kStage;
      load_stage(to, query_panel + chunk * kStage, count);
      load_stage(to + kStage, key_panels + static_cast<int64_t>(tile) * features * kTile + chunk * kStage, count);
    }
    copies_end_group();
  };
  float max_of[4], sum_of[4], context[4][kOwn];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    max_of[i] = -INFINITY;
    sum_of[i] = 0;
#pragma unroll
    for (int c = 0; c < kOwn; ++c) context[i][c] = 0;
  }
  float scores[4][4];
  bool in_range = true;
  fetch(0);
  for (int step = 0; step < steps; ++step) {
    const int tile = first + step / chunks, chunk = step % chunks, first_key = tile * kTile;
    wait_for_copies<0>();
    __syncthreads();
    if (chunk == 0)
      load_values<kColumns>(values, p.values, b, kh, first_key, limit, column, static_cast<int>(p.value_width), wide);
    fetch(step + 1);
    if (chunk == 0) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) scores[i][j] = 0;
      if constexpr (kScore == ScoreKind::additive)
        in_range = !out_of_range(
            parts.panels.query_max + (static_cast<int64_t>(bh) * parts.query_tiles + query_tile) * features,
            parts.panels.keys_max + (key_head * parts.key_tiles + tile) * features, fold, features);
    }
    const float* a = stages + (step & 1) * 2 * kStage;
    const int count = min(kChunk, features - chunk * kChunk);
    if constexpr (kScore == ScoreKind::additive) {
      if (in_range) add_folded(scores, a, a + kStage, fold + chunk * kChunk, count, x, y);
    } else {
      add_products(scores, a, a + kStage, count, x, y);
    }
    if (chunk + 1 < chunks) continue;

    if constexpr (kScore == ScoreKind::additive) {
      if (in_range) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) scores[i][j] = fmaf(folded.factor, scores[i][j], folded.first);
      } else {
        scores_in_any_range(p, b, h, first_query, first_key, limit, scores);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int query = first_query + 4 * y + i;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int key = first_key + 4 * x + j;
        float e = scores[i][j], derivative;
        if (kSteps && query < queries && key < limit) e = after_score(p, b, h, query, key, e, derivative);
        scores[i][j] = key < limit ? e * kLog2E : -INFINITY;
      }
      float max = fmaxf(fmaxf(scores[i][0], scores[i][1]), fmaxf(scores[i][2], scores[i][3]));
      max = fmaxf(max_of[i], max_of_lanes<16>(max));
      const float from = max == -INFINITY ? 0.0F : max;
      const float by = exp2_approx(max_of[i] - from);  // 0 at first
      max_of[i] = max;
      float own = 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) own += scores[i][j] = exp2_approx(scores[i][j] - from);
      sum_of[i] = fmaf(sum_of[i], by, own);
#pragma unroll
      for (int c = 0; c < kOwn; ++c) context[i][c] *= by;
      float4 kept{scores[i][0], scores[i][1], scores[i][2], scores[i][3]};
      if (p.dropout > 0) {
        const float4 factors = dropout_factors(p, b, h, query, first_key + 4 * x);
        kept = {kept.x * factors.x, kept.y * factors.y, kept.z * factors.z, kept.w * factors.w};
      }
      *reinterpret_cast<float4*>(weights + (4 * y + i) * kWeightRow + 4 * x) = kept;
    }
    if (chunks == 1) wait_for_copies<0>();  // the values
    __syncthreads();
#pragma unroll 2
    for (int k = 0; k < kTile; k += 4) {
      float own[4][4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        *reinterpret_cast<float4*>(own[i]) = *reinterpret_cast<const float4*>(weights + (4 * y + i) * kWeightRow + k);
#pragma unroll
      for (int u = 0; u < 4; ++u)
#pragma unroll
        for (int c = 0; c < kOwn; c += 4) {
          const float4 v = *reinterpret_cast<const float4*>(values + (k + u) * kColumns + c * 16 + 4 * x);
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            context[i][c] = fmaf(own[i][u], v.x, context[i][c]);
            context[i][c + 1] = fmaf(own[i][u], v.y, context[i][c + 1]);
            context[i][c + 2] = fmaf(own[i][u], v.z, context[i][c + 2]);
            context[i][c + 3] = fmaf(own[i][u], v.w, context[i][c + 3]);
          }
        }
    }
  }
  const int width = static_cast<int>(p.value_width);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float sum = sum_of_lanes<16>(sum_of[i]);
    const int query = first_query + 4 * y + i;
    if (query >= queries) continue;
    int64_t row = static_cast<int64_t>(bh) * queries + query;
    const bool merged = parts.context != nullptr;
    const float by = merged ? 1.0F : sum == 0 ? 0.0F : 1.0F / sum;
    const float max = max_of[i] == -INFINITY ? 0.0F : max_of[i];
    if (merged) row += static_cast<int64_t>(split) * p.batch * p.heads * queries;
    float* to = (merged ? parts.context : p.context) + row * width + column;
#pragma unroll
    for (int c = 0; c < kOwn; ++c) {
      const int at = c / 4 * 64 + 4 * x + c % 4;
      if (column + at < width) to[at] = context[i][c] * by;
    }
    if (x != 0 || column != 0) continue;
    if (merged) {
      parts.rows[row] = {sum == 0 ? -INFINITY : max, sum};
    } else {
      RowStats<float> stats;
      stats.max = max;
      stats.sum = sum;
      p.rows[row] = stats;
    }
  }
}

/// One warp for each row: merges the parts in their order.
__global__ void __launch_bounds__(kThreads)
    merge_kernel(const __grid_constant__ Problem<float> p, const float* contexts, const float2* rows, int splits) {
  const int64_t all = p.batch * p.heads * p.queries;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  if (row >= all) return;
  float max = -INFINITY, sum = 0, factors[kMaxSplits];
#pragma unroll
  for (int s = 0; s < kMaxSplits; ++s)
    if (s < splits) max = fmaxf(max, rows[s * all + row].x);
  const float from = max == -INFINITY ? 0.0F : max;
#pragma unroll
  for (int s = 0; s < kMaxSplits; ++s) {
    const float2 part = s < splits ? rows[s * all + row] : float2{-INFINITY, 0};
    factors[s] = exp2_approx(part.x - from);
    sum = fmaf(part.y, factors[s], sum);
  }
  const float by = sum == 0 ? 0.0F : 1.0F / sum;
  for (int64_t c = threadIdx.x % 32; c < p.value_width; c += 32) {
    float context = 0;
#pragma unroll
    for (int s = 0; s < kMaxSplits; ++s)
      if (s < splits) context = fmaf(contexts[(s * all + row) * p.value_width + c], factors[s], context);
    p.context[row * p.value_width + c] = context * by;
  }
  if (threadIdx.x % 32 != 0) return;
  RowStats<float> stats;
  stats.max = from;
  stats.sum = sum;
  p.rows[row] = stats;
}

int columns_of(const Problem<float>& p) {
  return p.value_width <= 64 ? 64 : 128;
}

size_t shared_of(const Problem<float>& p, int columns) {
  return static_cast<size_t>(4 * kStage + kTile * columns + kTile * kWeightRow + padded(p.width)) * sizeof(float);
}

ForwardParts take_parts(const Problem<float>& p, Workspace& workspace, PanelJobs& jobs) {
  ForwardParts parts{};
  parts.panels = take_panels(p, workspace, jobs);
  parts.query_tiles = tiles_of(p.queries);
  parts.key_tiles = tiles_of(p.keys);
  parts.column_blocks = static_cast<int>(divided_up(p.value_width, columns_of(p)));
  const int64_t blocks = p.batch * p.heads * parts.query_tiles * parts.column_blocks;
  const int64_t wanted = std::min<int64_t>({kBlocks / std::max<int64_t>(blocks, 1), kMaxSplits, parts.key_tiles});
  parts.tiles_per_split = static_cast<int>(divided_up(parts.key_tiles, std::max<int64_t>(wanted, 1)));
  parts.splits = static_cast<int>(divided_up(parts.key_tiles, parts.tiles_per_split));
  if (parts.splits > 1) {
    parts.context = workspace.take<float>(parts.splits * p.batch * p.heads * p.queries * p.value_width);
    parts.rows = workspace.take<float2>(parts.splits * p.batch * p.heads * p.queries);
  }
  return parts;
}

template <ScoreKind kScore, int kColumns, bool kSteps>
void launch(const Problem<float>& p, const ForwardParts& parts, Stream stream) {
  const bool wide = copied_wide(p.values, p.value_width);
  const size_t bytes = shared_of(p, kColumns);
  const auto kernel = forward_kernel<kScore, kColumns, kSteps>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  const dim3 grid(static_cast<unsigned>(p.batch * p.heads * parts.query_tiles), static_cast<unsigned>(parts.splits),
                  static_cast<unsigned>(parts.column_blocks));
  kernel<<<grid, kThreads, bytes, stream>>>(p, parts, wide);
}

template <ScoreKind kScore, int kColumns>
void launch_steps(const Problem<float>& p, const ForwardParts& parts, Stream stream) {
  if (has_steps(p))
    launch<kScore, kColumns, true>(p, parts, stream);
  else
    launch<kScore, kColumns, false>(p, parts, stream);
}

template <ScoreKind kScore>
void launch_columns(const Problem<float>& p, const ForwardParts& parts, Stream stream) {
  if (columns_of(p) == 64)
    launch_steps<kScore, 64>(p, parts, stream);
  else
    launch_steps<kScore, 128>(p, parts, stream);
}

}  // namespace

namespace tiled {

int64_t shared_bytes(const Problem<float>& p) {
  return static_cast<int64_t>(shared_of(p, columns_of(p)));
}

size_t forward_bytes(const Problem<float>& p) {
  Workspace workspace(nullptr);
  PanelJobs jobs;
  take_parts(p, workspace, jobs);
  return workspace.bytes();
}

void forward(const Problem<float>& p, void* memory, Stream stream) {
  Workspace workspace(memory);
  PanelJobs jobs;
  const ForwardParts parts = take_parts(p, workspace, jobs);
  fill_panels(p, parts.panels, jobs, stream);
  if (p.score == ScoreKind::additive)
    launch_columns<ScoreKind::additive>(p, parts, stream);
  else
    launch_columns<ScoreKind::dot>(p, parts, stream);
  if (parts.splits > 1)
    merge_kernel<<<static_cast<unsigned>(divided_up(p.batch * p.heads * p.queries, kThreads / 32)), kThreads, 0,
                   stream>>>(p, parts.context, parts.rows, parts.splits);
}

}  // namespace tiled
}  // namespace heed::kernels::cuda
