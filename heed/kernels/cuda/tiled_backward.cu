// Backward over tiles. Queries are cut into chunks, so that the two buffers [queries of a chunk][keys] stay small. For
// each chunk:
//
//   pairs      weights (with dropout) W and gradients of scores dS of every pair, from scores computed again
//   products   dV += W^T dC;  dot: dQ = dS K, dK += dS^T Q
//   additive   dQ, dK and dw from dS, with the derivative 4 (r - r^2), r = 1 / (1 + exp(2 (q + k)))
//
// Sums are split by shapes, and the parts added in their order, so that results have the same bits in every run.

#include <algorithm>

#include "heed/kernels/cuda/panels.cuh"

namespace heed::kernels::cuda {
namespace {

constexpr int64_t kChunkFloats = int64_t{8} << 20;  // of each of the two buffers
constexpr int kBlocks = 200;                        // that splitting aims at
constexpr int kFeatures = 128;                      // of a block of the additive gradients, one for each thread

/// What a row of scores needs to compute its gradients.
struct RowInfo {
  float max, by, delta, alive;  // by: 1 / sum; delta: sum_c dC_c C_c - dlse; alive: 0 if the query attends nothing
};

/// A part of the queries: all tiles of `heads` (batch element, head) pairs, or some tiles of one.
struct Chunk {
  int first_head, heads, first_tile, tiles;
};

struct Buffers {
  float *weights, *ds;  // [heads of the chunk][tiles * 64][key_row]
  int64_t key_row;      // keys, rounded up to tiles
};

__global__ void __launch_bounds__(kThreads)
    row_kernel(const __grid_constant__ Problem<float> p, const float* grads, const float* lse, RowInfo* rows) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  if (row >= p.batch * p.heads * p.queries) return;
  float sum = 0;
  if (grads != nullptr)
    for (int64_t c = threadIdx.x % 32; c < p.value_width; c += 32)
      sum = fmaf(grads[row * p.value_width + c], p.context[row * p.value_width + c], sum);
  sum = sum_of_lanes<32>(sum);
  if (threadIdx.x % 32 != 0) return;
  const RowStats<float> stats = p.rows[row];
  const bool alive = stats.sum != 0;
  rows[row] = {stats.max, alive ? 1.0F / stats.sum : 0.0F, lse == nullptr ? sum : sum - lse[row], alive ? 1.0F : 0.0F};
}

/// One tile of 64 queries x 64 keys for each block.
template <ScoreKind kScore, bool kSteps>
__global__ void __launch_bounds__(kThreads, 2)
    pairs_kernel(const __grid_constant__ Problem<float> p, const __grid_constant__ Panels panels,
                 const float* grad_panels, const float* value_panels, const RowInfo* infos,
                 const __grid_constant__ Chunk chunk, const __grid_constant__ Buffers to) {
  extern __shared__ __align__(16) float memory[];
  float *stages = memory, *fold = memory + 4 * kStage;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int local_tile = static_cast<int>(blockIdx.x) % chunk.tiles,
            local_head = static_cast<int>(blockIdx.x) / chunk.tiles;
  const int bh = chunk.first_head + local_head, query_tile = chunk.first_tile + local_tile, tile = blockIdx.y;
  const int h = bh % static_cast<int>(p.heads), b = bh / static_cast<int>(p.heads),
            kh = h / static_cast<int>(p.group());
  const int first_query = query_tile * kTile, first_key = tile * kTile, queries = static_cast<int>(p.queries);
  const int limit = key_limit(p, b);
  const KeyRange range = key_range(p, b, first_query, min(first_query + kTile, queries));
  if (first_key + kTile <= range.first || first_key >= range.last) return;  // nothing reads this tile
  const int query_tiles = (queries + kTile - 1) / kTile, key_tiles = (static_cast<int>(p.keys) + kTile - 1) / kTile;
  const int features = padded(p.width), columns = grad_panels == nullptr ? 0 : padded(p.value_width);
  const int score_chunks = (features + kChunk - 1) / kChunk, chunks = score_chunks + (columns + kChunk - 1) / kChunk;
  const int64_t query_index = static_cast<int64_t>(bh) * query_tiles + query_tile;
  const int64_t key_index = (b * p.key_heads + kh) * key_tiles + tile;
  FoldedScore folded{};
  bool in_range = true;
  if constexpr (kScore == ScoreKind::additive) {
    folded = panels.folded[h];
    for (int f = threadIdx.x; f < features; f += kThreads) fold[f] = panels.fold[h * features + f];
    __syncthreads();
    in_range = !out_of_range(panels.query_max + query_index * features, panels.keys_max + key_index * features, fold,
                             features);
  }
  const auto fetch = [&](int step) {
    float* at = stages + (step & 1) * 2 * kStage;
    if (step < score_chunks) {
      const int count = min(kChunk, features - step * kChunk);
      load_stage(at, panels.query + query_index * features * kTile + step * kStage, count);
      load_stage(at + kStage, panels.keys + key_index * features * kTile + step * kStage, count);
    } else if (step < chunks) {
      const int from = step - score_chunks, count = min(kChunk, columns - from * kChunk);
      load_stage(at, grad_panels + query_index * columns * kTile + from * kStage, count);
      load_stage(at + kStage, value_panels + key_index * columns * kTile + from * kStage, count);
    }
    copies_end_group();
  };
  float scores[4][4] = {}, grads[4][4] = {};
  fetch(0);
  for (int step = 0; step < chunks; ++step) {
    wait_for_copies<0>();
    __syncthreads();
    fetch(step + 1);
    const float* a = stages + (step & 1) * 2 * kStage;
    if (step >= score_chunks) {
      add_products(grads, a, a + kStage, min(kChunk, columns - (step - score_chunks) * kChunk), x, y);
    } else if constexpr (kScore == ScoreKind::additive) {
      if (in_range)
        add_folded(scores, a, a + kStage, fold + step * kChunk, min(kChunk, features - step * kChunk), x, y);
    } else {
      add_products(scores, a, a + kStage, min(kChunk, features - step * kChunk), x, y);
    }
  }
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
    const RowInfo info = query < queries ? infos[static_cast<int64_t>(bh) * queries + query] : RowInfo{};
    float4 factors{1, 1, 1, 1};
    if (p.dropout > 0) factors = dropout_factors(p, b, h, query, first_key + 4 * x);
    const float kept[4] = {factors.x, factors.y, factors.z, factors.w};
    float weights[4], ds[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int key = first_key + 4 * x + j;
      weights[j] = ds[j] = 0;
      if (info.alive == 0 || key >= limit) continue;
      float derivative = 1, e = scores[i][j];
      if constexpr (kSteps) e = after_score(p, b, h, query, key, e, derivative);
      const float weight = exp2_approx(e * kLog2E - info.max) * info.by;
      weights[j] = weight * kept[j];
      ds[j] = weight == 0 ? 0.0F : weight * (kept[j] * grads[i][j] - info.delta) * derivative;
    }
    const int64_t at =
        (static_cast<int64_t>(local_head) * chunk.tiles * kTile + local_tile * kTile + 4 * y + i) * to.key_row +
        first_key + 4 * x;
    *reinterpret_cast<float4*>(to.weights + at) = {weights[0], weights[1], weights[2], weights[3]};
    *reinterpret_cast<float4*>(to.ds + at) = {ds[0], ds[1], ds[2], ds[3]};
  }
}

/// One product with a buffer of pairs. kOfKeys: out[key][c] = sum over queries of m[query][key] x[query][c]; otherwise
/// out[query][c] = sum over keys of m[query][key] x[key][c].
struct Product {
  const float* pairs;    // a buffer
  int64_t key_row;       // its row
  Rows<const float> x;   // rows of queries (heads), or of keys (key heads)
  const RowInfo* infos;  // of queries: rows that attend nothing are not read
  int width;             // columns
  float* out;            // [splits][batch * heads][rows][width]; of queries: one split
  bool add;              // to what is there
  bool wide;             // rows of x are copied 16 bytes at a time
  int tiles_per_split;
};

constexpr int kColumns = 128, kSums = 32;  // of product_kernel: columns of a block, rows of x at once
constexpr int kPairRow = kTile + 4, kProductStage = kSums * (kPairRow + kColumns);
constexpr size_t kProductBytes = 2 * kProductStage * sizeof(float);

template <bool kOfKeys>
__global__ void __launch_bounds__(kThreads, 2)
    product_kernel(const __grid_constant__ Problem<float> p, const __grid_constant__ Chunk chunk,
                   const __grid_constant__ Product product) {
  extern __shared__ __align__(16) float memory[];  // twice: [kSums][kPairRow], [kSums][kColumns]
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int own_tiles = kOfKeys ? static_cast<int>((p.keys + kTile - 1) / kTile) : chunk.tiles;
  const int own = static_cast<int>(blockIdx.x) % own_tiles, local_head = static_cast<int>(blockIdx.x) / own_tiles;
  const int bh = chunk.first_head + local_head, column = static_cast<int>(blockIdx.y) * kColumns, split = blockIdx.z;
  const int h = bh % static_cast<int>(p.heads), b = bh / static_cast<int>(p.heads),
            kh = h / static_cast<int>(p.group());
  const int queries = static_cast<int>(p.queries), keys = static_cast<int>(p.keys), limit = key_limit(p, b);
  const float* m = product.pairs + static_cast<int64_t>(local_head) * chunk.tiles * kTile * product.key_row;
  const int all = kOfKeys ? chunk.tiles : static_cast<int>((p.keys + kTile - 1) / kTile);
  const int first = split * product.tiles_per_split, last = min(all, first + product.tiles_per_split);
  const auto in_range = [&](int tile) {
    const int query_tile = chunk.first_tile + (kOfKeys ? tile : own), key_tile = kOfKeys ? own : tile;
    const KeyRange range = key_range(p, b, query_tile * kTile, min(query_tile * kTile + kTile, queries));
    return key_tile * kTile + kTile > range.first && key_tile * kTile < range.last;
  };
  const auto fetch = [&](int tile, int half, int stage) {
    float *pairs = memory + stage * kProductStage, *rows = pairs + kSums * kPairRow;
    if constexpr (kOfKeys) {
      for (int n = threadIdx.x; n < kSums * kTile / 4; n += kThreads) {
        const int s = n / (kTile / 4), r = n % (kTile / 4) * 4;
        copy_16(pairs + s * kPairRow + r,
                m + (static_cast<int64_t>(tile) * kTile + half + s) * product.key_row + own * kTile + r);
      }
    } else {
      for (int n = threadIdx.x; n < kSums * kTile; n += kThreads) {
        const int r = n / kSums, s = n % kSums;
        copy_4(pairs + s * kPairRow + r,
               m + (static_cast<int64_t>(own) * kTile + r) * product.key_row + tile * kTile + half + s);
      }
    }
    const int first_row = (kOfKeys ? chunk.first_tile + tile : tile) * kTile + half;
    const auto is_there = [&](int row, int c) {
      if (row >= (kOfKeys ? queries : limit) || column + c >= product.width) return false;
      return !kOfKeys || product.infos == nullptr || product.infos[static_cast<int64_t>(bh) * queries + row].alive != 0;
    };
    const int step = product.wide ? 4 : 1;
    for (int n = static_cast<int>(threadIdx.x) * step; n < kSums * kColumns; n += kThreads * step) {
      const int s = n / kColumns, c = n % kColumns;
      const bool there = is_there(first_row + s, c);
      const float* from = there ? product.x.at(b, kOfKeys ? h : kh, first_row + s) + column + c : product.x.data;
      if (product.wide)
        copy_16(rows + n, from, there);
      else
        copy_4(rows + n, from, there);
    }
  };
  // Steps are halves of the tiles in range; the next one is fetched while this one is computed.
  int tile = first, half = 0, stage = 0;
  const auto skip = [&] {
    while (tile < last && !in_range(tile)) ++tile;
  };
  float sums[4][8] = {};
  skip();
  if (tile < last) fetch(tile, half, stage);
  copies_end_group();
  while (tile < last) {
    wait_for_copies<0>();
    __syncthreads();
    half = half == 0 ? kSums : 0;
    if (half == 0) {
      ++tile;
      skip();
    }
    if (tile < last) fetch(tile, half, stage ^ 1);
    copies_end_group();
    const float *pairs = memory + stage * kProductStage, *rows = pairs + kSums * kPairRow;
#pragma unroll 4
    for (int s = 0; s < kSums; ++s) {
      const float4 ms = *reinterpret_cast<const float4*>(pairs + s * kPairRow + 4 * y);
      const float4 v0 = *reinterpret_cast<const float4*>(rows + s * kColumns + 4 * x);
      const float4 v1 = *reinterpret_cast<const float4*>(rows + s * kColumns + 64 + 4 * x);
      const float mine[4] = {ms.x, ms.y, ms.z, ms.w}, v[8] = {v0.x, v0.y, v0.z, v0.w, v1.x, v1.y, v1.z, v1.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int c = 0; c < 8; ++c) sums[i][c] = fmaf(mine[i], v[c], sums[i][c]);
    }
    stage ^= 1;
  }
  const int rows_of_out = kOfKeys ? keys : queries;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = (kOfKeys ? own : chunk.first_tile + own) * kTile + 4 * y + i;
    if (row >= rows_of_out) continue;
    float* out = product.out + ((split * p.batch * p.heads + bh) * rows_of_out + row) * product.width + column;
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      const int at = c / 4 * 64 + 4 * x + c % 4;
      if (column + at >= product.width) continue;
      out[at] = product.add ? out[at] + sums[i][c] : sums[i][c];
    }
  }
}

/// Gradients of the additive score. A block has some query tiles x some key tiles; a thread owns one feature of them,
/// so that nothing is shared: sums of keys stay in registers over the queries of a tile, sums of queries in shared
/// memory.
struct AdditiveParts {
  const float* ds;
  int64_t key_row;
  int query_splits, key_splits, tiles_per_query_split, tiles_per_key_split;
  float* query;      // [key_splits][heads of the chunk][tiles * 64][width]
  float* keys;       // [query_splits][batch * heads][keys][width]; added to, unless first
  float* to_scores;  // [batch][query_splits * key_splits][heads][width]; likewise
  bool first;
};

__global__ void __launch_bounds__(kFeatures, 2)
    additive_kernel(const __grid_constant__ Problem<float> p, const __grid_constant__ Chunk chunk, const RowInfo* infos,
                    const __grid_constant__ AdditiveParts parts) {
  constexpr int kRows = 8;
  extern __shared__ __align__(16) float memory[];
  const int threads = blockDim.x;
  float *ds = memory, *exps = ds + kTile * kTile,
        *sums = exps + kTile * threads;  // [64][64], [64][threads] three times
  float* key_exps = sums + kTile * threads;
  const int query_split = static_cast<int>(blockIdx.x) % parts.query_splits;
  const int local_head = static_cast<int>(blockIdx.x) / parts.query_splits, key_split = blockIdx.y;
  const int bh = chunk.first_head + local_head, h = bh % static_cast<int>(p.heads), b = bh / static_cast<int>(p.heads);
  const int kh = h / static_cast<int>(p.group()), width = static_cast<int>(p.width);
  const int f = static_cast<int>(blockIdx.z) * threads + static_cast<int>(threadIdx.x);
  const bool there = f < width;
  const int queries = static_cast<int>(p.queries), keys = static_cast<int>(p.keys), limit = key_limit(p, b);
  const int first_tile = query_split * parts.tiles_per_query_split,
            last_tile = min(chunk.tiles, first_tile + parts.tiles_per_query_split);
  const int first_key_tile = key_split * parts.tiles_per_key_split;
  const int last_key_tile = min((keys + kTile - 1) / kTile, first_key_tile + parts.tiles_per_key_split);
  float of_w = 0, of_all = 0;
  float* key_sums = parts.keys + ((query_split * p.batch * p.heads + bh) * p.keys) * width + f;
  if (parts.first)
    for (int key = first_key_tile * kTile; key < min(keys, last_key_tile * kTile) && there; ++key)
      key_sums[static_cast<int64_t>(key) * width] = 0;
  for (int tile = first_tile; tile < last_tile; ++tile) {
    const int first_query = (chunk.first_tile + tile) * kTile;
    const KeyRange range = key_range(p, b, first_query, min(first_query + kTile, queries));
    bool wide = false;  // an exponential of this tile is too large for a product
#pragma unroll 8
    for (int i = 0; i < kTile; ++i) {
      const int query = first_query + i;
      const bool alive = query < queries && infos[static_cast<int64_t>(bh) * queries + query].alive != 0;
      const float q = alive && there ? p.query.at(b, h, query)[f] : 0.0F;
      wide = wide || fabsf(q) > 38;
      exps[i * threads + threadIdx.x] = exp2_approx(2 * kLog2E * q);
      sums[i * threads + threadIdx.x] = 0;
    }
    for (int key_tile = first_key_tile; key_tile < last_key_tile; ++key_tile) {
      const int first_key = key_tile * kTile;
      if (first_key + kTile <= range.first || first_key >= range.last) continue;
      __syncthreads();
      const float* from =
          parts.ds + ((static_cast<int64_t>(local_head) * chunk.tiles + tile) * kTile) * parts.key_row + first_key;
      for (int n = threadIdx.x; n < kTile * kTile / 4; n += threads) {
        const int row = n / (kTile / 4), c = n % (kTile / 4) * 4;
        const float4 four = *reinterpret_cast<const float4*>(from + row * parts.key_row + c);
        *reinterpret_cast<float4*>(ds + row * kTile + c) = four;
        of_all += (four.x + four.y) + (four.z + four.w);
      }
      bool far = wide;
      const float* key_from = p.key_rows.at(b, kh, first_key) + f;
#pragma unroll 16
      for (int j = 0; j < kTile; ++j) {
        const float key = first_key + j < limit && there ? key_from[j * p.key_rows.row] : 0.0F;
        far = far || fabsf(key) > 38;
        key_exps[j * threads + threadIdx.x] = exp2_approx(2 * kLog2E * key);
      }
      __syncthreads();
      for (int kb = 0; kb < kTile; kb += kRows) {
        if (first_key + kb >= limit) break;
        float key[kRows], of_key[kRows] = {};
#pragma unroll
        for (int u = 0; u < kRows; ++u) key[u] = key_exps[(kb + u) * threads + threadIdx.x];
        if (__any_sync(0xFFFFFFFFU, far)) {  // from q + k, right for every range
          for (int i = 0; i < kTile; ++i) {
            const int query = first_query + i;
            const bool alive = query < queries && infos[static_cast<int64_t>(bh) * queries + query].alive != 0;
            if (!alive || !there) continue;
            const float q = p.query.at(b, h, query)[f];
            float of_query = 0;
#pragma unroll
            for (int u = 0; u < kRows; ++u) {
              const int j = first_key + kb + u;
              if (j >= limit) continue;
              const float grad = ds[i * kTile + kb + u], r = tanh_ratio(q + p.key_rows.at(b, kh, j)[f]);
              of_query = fmaf(grad, fmaf(-r, r, r), of_query);
              of_key[u] = fmaf(grad, fmaf(-r, r, r), of_key[u]);
              of_w = fmaf(grad, r, of_w);
            }
            sums[i * threads + threadIdx.x] += of_query;
          }
        } else {
          for (int qb = 0; qb < kTile; qb += kRows) {
            float of_block = 0;
#pragma unroll
            for (int i = 0; i < kRows; ++i) {
              const float query = exps[(qb + i) * threads + threadIdx.x];
              float of_query = 0;
              float grads[kRows];
              *reinterpret_cast<float4*>(grads) = *reinterpret_cast<const float4*>(ds + (qb + i) * kTile + kb);
              *reinterpret_cast<float4*>(grads + 4) = *reinterpret_cast<const float4*>(ds + (qb + i) * kTile + kb + 4);
#pragma unroll
              for (int u = 0; u < kRows; ++u) {
                const float r = reciprocal(fmaf(query, key[u], 1.0F)), part = fmaf(-r, r, r);
                of_query = fmaf(grads[u], part, of_query);
                of_key[u] = fmaf(grads[u], part, of_key[u]);
                of_block = fmaf(grads[u], r, of_block);
              }
              sums[(qb + i) * threads + threadIdx.x] += of_query;
            }
            of_w += of_block;
          }
        }
#pragma unroll
        for (int u = 0; u < kRows; ++u) {
          const int j = first_key + kb + u;
          // Only this thread adds to this number, so that the order of the sum is fixed; it need not wait for it.
          if (j < limit && there) atomicAdd(key_sums + static_cast<int64_t>(j) * width, of_key[u]);
        }
      }
    }
    for (int i = 0; i < kTile && there; ++i)
      parts.query[((static_cast<int64_t>(key_split) * chunk.heads + local_head) * chunk.tiles * kTile + tile * kTile +
                   i) *
                      width +
                  f] = sums[i * threads + threadIdx.x];
  }
  if (parts.to_scores == nullptr) return;
  __syncthreads();
  ds[threadIdx.x] = of_all;
  __syncthreads();
  float all = 0;
  for (int other = 0; other < threads; ++other) all += ds[other];
  if (!there) return;
  const int64_t split = query_split * parts.key_splits + key_split, splits = parts.query_splits * parts.key_splits;
  float& to = parts.to_scores[((b * splits + split) * p.heads + h) * width + f];
  const float sum = fmaf(-2.0F, of_w, all);
  to = parts.first ? sum : to + sum;
}

/// out[head][row][c] = sum over the heads of a group and over splits of parts[split][head][row][c] factor, with the
/// factor 4 w of a head for the additive score. Rows [first, first + rows) of `all` rows of the output.
struct Sum {
  const float* parts;
  int splits;
  int64_t split;        // stride between splits
  int heads, group;     // heads of the parts; out has heads / group
  int first_head;       // of the parts: which w
  int64_t part_rows;    // rows of a head in parts
  int64_t rows, width;  // to write
  float* out;
  int64_t out_rows, first_row;  // rows of a head in out, and the first one
};

template <bool kAdditive>
__global__ void __launch_bounds__(kThreads)
    sum_kernel(const __grid_constant__ Problem<float> p, const __grid_constant__ Sum s) {
  const int64_t all = static_cast<int64_t>(s.heads) / s.group * s.rows * s.width;
  for (int64_t n = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; n < all;
       n += static_cast<int64_t>(gridDim.x) * kThreads) {
    const int64_t c = n % s.width, row = n / s.width % s.rows, head = n / s.width / s.rows;
    float total = 0;
    for (int g = 0; g < s.group; ++g) {
      const int64_t own = head * s.group + g;
      float sum = 0;
      for (int split = 0; split < s.splits; ++split)
        sum += s.parts[split * s.split + (own * s.part_rows + row) * s.width + c];
      if constexpr (kAdditive)
        total = fmaf(4 * weights_of_head(p, static_cast<int>((s.first_head + own) % p.heads))[c], sum, total);
      else
        total += sum;
    }
    s.out[(head * s.out_rows + s.first_row + row) * s.width + c] = total;
  }
}

template <bool kAdditive>
void add_parts(const Problem<float>& p, const Sum& sum, Stream stream) {
  const int64_t all = static_cast<int64_t>(sum.heads) / sum.group * sum.rows * sum.width;
  const auto blocks = static_cast<unsigned>(std::clamp<int64_t>(divided_up(all, kThreads), 1, 4096));
  sum_kernel<kAdditive><<<blocks, kThreads, 0, stream>>>(p, sum);
}

/// A buffer of partial sums over queries, [splits][batch * heads][keys][width], for the gradients of keys or values.
struct KeySums {
  float* parts = nullptr;
  int splits = 1, tiles_per_split = 1;
  bool direct = false;  // `parts` is the gradient itself
};

class Backward {
 public:
  Backward(const Problem<float>& p, const Gradients<float>& g, void* memory) : p_(p), g_(g), workspace_(memory) {
    const int64_t key_row = tiles_of(p.keys) * kTile;
    query_tiles_ = tiles_of(p.queries);
    const int64_t per_head = query_tiles_ * kTile * key_row;
    chunk_heads_ = static_cast<int>(std::clamp<int64_t>(kChunkFloats / per_head, 1, p.batch * p.heads));
    chunk_tiles_ = query_tiles_;
    if (per_head > kChunkFloats)
      chunk_tiles_ = static_cast<int>(std::clamp<int64_t>(kChunkFloats / (kTile * key_row), 1, query_tiles_));
    panels_ = take_panels(p, workspace_, jobs_);
    if (g.context != nullptr) {
      const Rows<const float> grads{g.context, p.heads * p.queries * p.value_width, p.queries * p.value_width,
                                    p.value_width};
      const PanelJob job = panel_job(p, grads, p.heads, p.queries, p.value_width, workspace_);
      grad_panels_ = job.panels;
      add_job(jobs_, job, p.batch);
      PanelJob values = panel_job(p, p.values, p.key_heads, p.keys, p.value_width, workspace_);
      values.key_count = p.mask.key_count;
      value_panels_ = values.panels;
      add_job(jobs_, values, p.batch);
    }
    infos_ = workspace_.take<RowInfo>(p.batch * p.heads * p.queries);
    buffers_.key_row = key_row;
    const int64_t floats = static_cast<int64_t>(chunk_heads_) * chunk_tiles_ * kTile * key_row;
    buffers_.weights = workspace_.take<float>(floats);
    buffers_.ds = workspace_.take<float>(floats);
    if (g.values != nullptr && g.context != nullptr) values_ = key_sums(g.values, p.value_width);
    if (!by_scores()) return;
    if (p.score == ScoreKind::additive)
      take_additive();
    else if (g.keys != nullptr)
      keys_ = key_sums(g.keys, p.width);
  }

  size_t bytes() const { return workspace_.bytes(); }

  void run(Stream stream) {
    fill_panels(p_, panels_, jobs_, stream);
    row_kernel<<<static_cast<unsigned>(divided_up(p_.batch * p_.heads * p_.queries, kThreads / 32)), kThreads, 0,
                 stream>>>(p_, g_.context, g_.lse, infos_);
    const int heads = static_cast<int>(p_.batch * p_.heads);
    for (int head = 0; head < heads; head += chunk_heads_)
      for (int tile = 0; tile < query_tiles_; tile += chunk_tiles_)
        run_chunk({head, std::min(chunk_heads_, heads - head), tile, std::min(chunk_tiles_, query_tiles_ - tile)},
                  stream);
    finish(stream);
  }

 private:
  bool by_scores() const { return g_.query != nullptr || g_.keys != nullptr || g_.to_scores != nullptr; }

  KeySums key_sums(float* gradient, int64_t width) {
    KeySums sums;
    const int64_t blocks = static_cast<int64_t>(chunk_heads_) * tiles_of(p_.keys) * divided_up(width, 128);
    const int64_t wanted = std::clamp<int64_t>(kBlocks / blocks, 1, std::min(8, chunk_tiles_));
    sums.tiles_per_split = static_cast<int>(divided_up(chunk_tiles_, wanted));
    sums.splits = static_cast<int>(divided_up(chunk_tiles_, sums.tiles_per_split));
    sums.direct = sums.splits == 1 && p_.group() == 1;
    sums.parts = sums.direct ? gradient : workspace_.take<float>(sums.splits * p_.batch * p_.heads * p_.keys * width);
    return sums;
  }

  static size_t additive_bytes(int threads) {
    return static_cast<size_t>(kTile * kTile + 3 * kTile * threads) * sizeof(float);
  }
  int feature_threads() const {
    const bool many = static_cast<int64_t>(additive_bytes(kFeatures)) <= max_shared_bytes();
    return static_cast<int>(std::min<int64_t>(many ? kFeatures : kFeatures / 2, divided_up(p_.width, 32) * 32));
  }

  void take_additive() {
    const int64_t base = chunk_heads_ * divided_up(p_.width, feature_threads());
    int query_splits = 1, key_splits = 1;
    const int key_tiles = tiles_of(p_.keys);
    while (base * query_splits * key_splits < kBlocks && (query_splits < chunk_tiles_ || key_splits < key_tiles)) {
      if (key_splits >= key_tiles ||
          (query_splits < chunk_tiles_ && chunk_tiles_ / query_splits > key_tiles / key_splits))
        query_splits *= 2;
      else
        key_splits *= 2;
    }
    AdditiveParts& a = additive_;
    a.ds = buffers_.ds;
    a.key_row = buffers_.key_row;
    a.tiles_per_query_split = static_cast<int>(divided_up(chunk_tiles_, query_splits));
    a.query_splits = static_cast<int>(divided_up(chunk_tiles_, a.tiles_per_query_split));
    a.tiles_per_key_split = static_cast<int>(divided_up(key_tiles, key_splits));
    a.key_splits = static_cast<int>(divided_up(key_tiles, a.tiles_per_key_split));
    a.query =
        workspace_.take<float>(static_cast<int64_t>(a.key_splits) * chunk_heads_ * chunk_tiles_ * kTile * p_.width);
    a.keys = workspace_.take<float>(a.query_splits * p_.batch * p_.heads * p_.keys * p_.width);
    a.to_scores = nullptr;
    if (g_.to_scores != nullptr)
      a.to_scores = workspace_.take<float>(p_.batch * a.query_splits * a.key_splits * p_.heads * p_.width);
  }

  void run_chunk(const Chunk& chunk, Stream stream) {
    const int key_tiles = tiles_of(p_.keys);
    const dim3 grid(static_cast<unsigned>(chunk.heads * chunk.tiles), static_cast<unsigned>(key_tiles));
    const size_t bytes = static_cast<size_t>(4 * kStage + padded(p_.width)) * sizeof(float);
    const bool steps = has_steps(p_), additive = p_.score == ScoreKind::additive;
    const auto pairs = additive
                           ? steps ? pairs_kernel<ScoreKind::additive, true> : pairs_kernel<ScoreKind::additive, false>
                       : steps ? pairs_kernel<ScoreKind::dot, true>
                               : pairs_kernel<ScoreKind::dot, false>;
    cudaFuncSetAttribute(pairs, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    pairs<<<grid, kThreads, bytes, stream>>>(p_, panels_, grad_panels_, value_panels_, infos_, chunk, buffers_);
    if (values_.parts != nullptr) {
      const Rows<const float> grads{g_.context, p_.heads * p_.queries * p_.value_width, p_.queries * p_.value_width,
                                    p_.value_width};
      sum_over_queries(buffers_.weights, grads, infos_, p_.value_width, values_, chunk, stream);
    }
    if (!by_scores()) return;
    if (p_.score == ScoreKind::additive) return run_additive(chunk, stream);
    if (keys_.parts != nullptr) sum_over_queries(buffers_.ds, p_.query, infos_, p_.width, keys_, chunk, stream);
    if (g_.query == nullptr) return;
    const dim3 blocks(static_cast<unsigned>(chunk.heads * chunk.tiles),
                      static_cast<unsigned>(divided_up(p_.width, kColumns)));
    launch_product<false>({.pairs = buffers_.ds,
                           .key_row = buffers_.key_row,
                           .x = p_.key_rows,
                           .infos = nullptr,
                           .width = static_cast<int>(p_.width),
                           .out = g_.query,
                           .add = false,
                           .wide = copied_wide(p_.key_rows, p_.width),
                           .tiles_per_split = key_tiles},
                          chunk, blocks, stream);
  }

  template <bool kOfKeys>
  void launch_product(const Product& product, const Chunk& chunk, const dim3& grid, Stream stream) {
    const auto kernel = product_kernel<kOfKeys>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kProductBytes));
    kernel<<<grid, kThreads, kProductBytes, stream>>>(p_, chunk, product);
  }

  void sum_over_queries(const float* pairs, const Rows<const float>& x, const RowInfo* infos, int64_t width,
                        const KeySums& sums, const Chunk& chunk, Stream stream) {
    const dim3 grid(static_cast<unsigned>(chunk.heads * tiles_of(p_.keys)),
                    static_cast<unsigned>(divided_up(width, kColumns)), static_cast<unsigned>(sums.splits));
    launch_product<true>({.pairs = pairs,
                          .key_row = buffers_.key_row,
                          .x = x,
                          .infos = infos,
                          .width = static_cast<int>(width),
                          .out = sums.parts,
                          .add = chunk.first_tile > 0,
                          .wide = copied_wide(x, width),
                          .tiles_per_split = sums.tiles_per_split},
                         chunk, grid, stream);
  }

  void run_additive(const Chunk& chunk, Stream stream) {
    AdditiveParts parts = additive_;
    parts.first = chunk.first_tile == 0;
    const int threads = feature_threads();
    const size_t bytes = additive_bytes(threads);
    cudaFuncSetAttribute(additive_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    const dim3 grid(static_cast<unsigned>(chunk.heads * parts.query_splits), static_cast<unsigned>(parts.key_splits),
                    static_cast<unsigned>(divided_up(p_.width, threads)));
    additive_kernel<<<grid, threads, bytes, stream>>>(p_, chunk, infos_, parts);
    if (g_.query == nullptr) return;
    const int64_t first = static_cast<int64_t>(chunk.first_tile) * kTile,
                  rows = static_cast<int64_t>(chunk.tiles) * kTile;
    add_parts<true>(p_,
                    {.parts = parts.query,
                     .splits = parts.key_splits,
                     .split = chunk.heads * rows * p_.width,
                     .heads = chunk.heads,
                     .group = 1,
                     .first_head = chunk.first_head,
                     .part_rows = rows,
                     .rows = std::min(rows, p_.queries - first),
                     .width = p_.width,
                     .out = g_.query + chunk.first_head * p_.queries * p_.width,
                     .out_rows = p_.queries,
                     .first_row = first},
                    stream);
  }

  Sum over_heads(const KeySums& sums, int64_t width, float* out) const {
    return {.parts = sums.parts,
            .splits = sums.splits,
            .split = p_.batch * p_.heads * p_.keys * width,
            .heads = static_cast<int>(p_.batch * p_.heads),
            .group = static_cast<int>(p_.group()),
            .first_head = 0,
            .part_rows = p_.keys,
            .rows = p_.keys,
            .width = width,
            .out = out,
            .out_rows = p_.keys,
            .first_row = 0};
  }

  void finish(Stream stream) {
    if (values_.parts != nullptr && !values_.direct)
      add_parts<false>(p_, over_heads(values_, p_.value_width, g_.values), stream);
    if (!by_scores()) return;
    if (p_.score == ScoreKind::additive) {
      if (g_.keys != nullptr) {
        KeySums keys;
        keys.parts = additive_.keys;
        keys.splits = additive_.query_splits;
        add_parts<true>(p_, over_heads(keys, p_.width, g_.keys), stream);
      }
      if (g_.to_scores != nullptr)
        add_over_batch(additive_.to_scores, p_.batch * additive_.query_splits * additive_.key_splits,
                       p_.heads * p_.width, g_.to_scores, stream);
    } else if (keys_.parts != nullptr && !keys_.direct) {
      add_parts<false>(p_, over_heads(keys_, p_.width, g_.keys), stream);
    }
  }

  const Problem<float>& p_;
  const Gradients<float>& g_;
  Workspace workspace_;
  PanelJobs jobs_;
  Panels panels_;
  float *grad_panels_ = nullptr, *value_panels_ = nullptr;
  RowInfo* infos_ = nullptr;
  Buffers buffers_{};
  int query_tiles_ = 0, chunk_heads_ = 1, chunk_tiles_ = 1;
  KeySums values_, keys_;
  AdditiveParts additive_{};
};

}  // namespace

namespace tiled {

size_t backward_bytes(const Problem<float>& p, const Gradients<float>& g) {
  return Backward(p, g, nullptr).bytes();
}

void backward(const Problem<float>& p, const Gradients<float>& g, void* workspace, Stream stream) {
  Backward(p, g, workspace).run(stream);
}

}  // namespace tiled
}  // namespace heed::kernels::cuda
