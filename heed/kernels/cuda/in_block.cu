// Few queries or short sequences: one block of threads computes all pairs of a batch element and a key head, with the
// scores in shared memory. Forward and backward are one launch each; a second adds the gradients of w over the batch.

#include "heed/kernels/cuda/device.cuh"
#include "heed/kernels/cuda/launch.h"

namespace heed::kernels::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kLanes = 8;            // lanes that compute one pair together
constexpr int64_t kMaxPairs = 4096;  // that shared memory holds, twice

/// Which rows are read 16 bytes at a time.
struct Wide {
  bool scores, values;
};

/// Calls each(i, j, score, lane, whether there is such a pair) for all pairs of a head with j < limit, in all lanes.
template <ScoreKind kScore, class Each>
__device__ void for_pairs(const Problem<float>& p, int b, int h, int limit, bool wide, const Each& each) {
  const int kh = h / static_cast<int>(p.group()), lane = threadIdx.x % kLanes;
  const int pairs = static_cast<int>(p.queries) * limit, width = static_cast<int>(p.width);
  const float* w = kScore == ScoreKind::additive ? weights_of_head(p, h) : nullptr;
  for (int first = 0; first < pairs; first += kThreads / kLanes) {
    const int n = first + static_cast<int>(threadIdx.x) / kLanes;
    const int pair = min(n, pairs - 1), i = pair / limit, j = pair % limit;
    const float score = pair_score<kScore, kLanes>(p.query.at(b, h, i), p.key_rows.at(b, kh, j), w, width, lane, wide);
    each(i, j, score, lane, n < pairs);
  }
}

/// out[r][c] = sum over s of m[r][s] x[s][c] (kTransposed: m[s][r]), m in shared memory with rows of `stride`. Sums
/// over rows s of x that `alive` marks; null: all. Each thread owns columns, and the 8 rows of a block r.
template <bool kTransposed, int kRows>
__device__ void product(const float* m, int stride, int rows, int sums, const float* alive, const float* x,
                        int64_t x_row, int width, float* out, bool add) {
  const int across = width > 128 ? 256 : width > 64 ? 128 : width > 32 ? 64 : 32;
  const int part = threadIdx.x / across, parts = kThreads / across;
  for (int c = static_cast<int>(threadIdx.x) % across; c < width; c += across)
    for (int first = part * kRows; first < rows; first += parts * kRows) {
      float sum[kRows] = {};
      for (int s = 0; s < sums; ++s) {
        if (alive != nullptr && alive[s] == 0) continue;
        const float value = x[s * x_row + c];
#pragma unroll
        for (int u = 0; u < kRows; ++u) {
          const int r = min(first + u, rows - 1);
          sum[u] = fmaf(kTransposed ? m[s * stride + r] : m[r * stride + s], value, sum[u]);
        }
      }
#pragma unroll
      for (int u = 0; u < kRows; ++u) {
        if (first + u >= rows) continue;
        float& to = out[static_cast<int64_t>(first + u) * width + c];
        to = add ? to + sum[u] : sum[u];
      }
    }
}

/// The same for one row, whose sum the parts share; partial sums in `buffer` [kThreads].
__device__ void product_of_row(const float* m, int sums, const float* x, int64_t x_row, int width, float* out,
                               float* buffer) {
  const int across = width > 128 ? 256 : width > 64 ? 128 : width > 32 ? 64 : 32;
  const int part = threadIdx.x / across, parts = kThreads / across, column = static_cast<int>(threadIdx.x) % across;
  for (int first = 0; first < width; first += across) {
    const int c = first + column;
    float sum = 0;
    if (c < width)
#pragma unroll 4
      for (int s = part; s < sums; s += parts) sum = fmaf(m[s], x[s * x_row + c], sum);
    if (parts > 1) {
      __syncthreads();
      buffer[threadIdx.x] = sum;
      __syncthreads();
      for (int other = 1; other < parts && part == 0; ++other) sum += buffer[other * across + column];
    }
    if (c < width && part == 0) out[c] = sum;
  }
}

template <ScoreKind kScore, bool kSteps>
__global__ void __launch_bounds__(kThreads) forward_kernel(const __grid_constant__ Problem<float> p, Wide wide) {
  extern __shared__ float memory[];
  const int h = blockIdx.x % p.heads, b = blockIdx.x / p.heads, kh = h / static_cast<int>(p.group());
  const int keys = static_cast<int>(p.keys), queries = static_cast<int>(p.queries), limit = key_limit(p, b);
  float *weights = memory, *buffer = memory + queries * keys;  // [queries][keys], [kThreads]
  for_pairs<kScore>(p, b, h, limit, wide.scores, [&](int i, int j, float score, int lane, bool there) {
    if (lane != 0 || !there) return;
    float derivative;
    weights[i * keys + j] = (kSteps ? after_score(p, b, h, i, j, score, derivative) : score) * kLog2E;
  });
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x) / 32; i < queries; i += kWarps)
    align_row(p, b, h, i, weights + i * keys, limit);
  __syncthreads();
  const int width = static_cast<int>(p.value_width);
  const float* values = p.values.at(b, kh);
  float* context = p.context + p.row_index(b, h, 0) * width;
  if (queries == 1)
    product_of_row(weights, limit, values, p.values.row, width, context, buffer);
  else
    product<false, 8>(weights, keys, queries, limit, nullptr, values, p.values.row, width, context, false);
}

/// Gradients of the additive score with respect to query, keys and w. Each thread owns features.
__device__ void additive_gradients(const Problem<float>& p, const Gradients<float>& g, int b, int h, int limit,
                                   const float* ds, const float* alive, bool add_keys, float* to_scores) {
  constexpr int kKeys = 8;
  const int keys = static_cast<int>(p.keys), queries = static_cast<int>(p.queries), width = static_cast<int>(p.width);
  const int kh = h / static_cast<int>(p.group());
  const float* w = weights_of_head(p, h);
  for (int f = static_cast<int>(threadIdx.x); f < width; f += kThreads) {
    const float four_w = 4 * w[f];
    float of_w = 0;
    for (int first = 0; first < keys; first += kKeys) {
      float key[kKeys], of_key[kKeys] = {};
#pragma unroll
      for (int u = 0; u < kKeys; ++u) key[u] = first + u < limit ? p.key_rows.at(b, kh, first + u)[f] : 0.0F;
      for (int i = 0; i < queries; ++i) {
        float of_query = 0;
        if (alive[i] != 0) {
          const float query = p.query.at(b, h, i)[f];
          float of_block = 0;
#pragma unroll
          for (int u = 0; u < kKeys; ++u) {
            if (first + u >= limit) continue;
            const float grad = ds[i * keys + first + u], r = tanh_ratio(query + key[u]), part = fmaf(-r, r, r);
            of_query = fmaf(grad, part, of_query);
            of_key[u] = fmaf(grad, part, of_key[u]);
            of_block = fmaf(grad, fmaf(-2.0F, r, 1.0F), of_block);
          }
          of_w += of_block;
        }
        if (g.query == nullptr) continue;
        float& to = g.query[(p.row_index(b, h, i)) * width + f];
        to = first == 0 ? four_w * of_query : fmaf(four_w, of_query, to);
      }
      if (g.keys == nullptr) continue;
#pragma unroll
      for (int u = 0; u < kKeys; ++u) {
        if (first + u >= keys) continue;
        float& to = g.keys[((b * p.key_heads + kh) * p.keys + first + u) * width + f];
        to = add_keys ? fmaf(four_w, of_key[u], to) : four_w * of_key[u];
      }
    }
    if (to_scores != nullptr) to_scores[(b * p.heads + h) * p.width + f] = of_w;
  }
}

template <ScoreKind kScore>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(const __grid_constant__ Problem<float> p, const __grid_constant__ Gradients<float> g,
                    float* to_scores, Wide wide) {
  extern __shared__ float memory[];
  const int kh = blockIdx.x % p.key_heads, b = blockIdx.x / p.key_heads, group = static_cast<int>(p.group());
  const int keys = static_cast<int>(p.keys), queries = static_cast<int>(p.queries), limit = key_limit(p, b);
  const int width = static_cast<int>(p.width), value_width = static_cast<int>(p.value_width);
  // [queries][keys] twice, [queries] four times
  float *weights = memory, *ds = weights + queries * keys, *delta = ds + queries * keys, *alive = delta + queries;
  float *max = alive + queries, *by = max + queries;
  for (int h = kh * group; h < (kh + 1) * group; ++h) {
    const bool add = h > kh * group;
    const float* grads = g.context == nullptr ? nullptr : g.context + p.row_index(b, h, 0) * value_width;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    for (int i = static_cast<int>(threadIdx.x) / 32; i < queries; i += kWarps) {
      const float* context = p.context + p.row_index(b, h, i) * value_width;
      float sum = 0;
      for (int c = lane; c < value_width && grads != nullptr; c += 32)
        sum = fmaf(grads[i * value_width + c], context[c], sum);
      sum = sum_of_lanes<32>(sum);
      if (lane != 0) continue;
      const RowStats<float> stats = p.rows[p.row_index(b, h, i)];
      delta[i] = g.lse == nullptr ? sum : sum - g.lse[p.row_index(b, h, i)];
      alive[i] = stats.sum == 0 ? 0.0F : 1.0F;
      max[i] = stats.max;
      by[i] = stats.sum == 0 ? 0.0F : 1.0F / stats.sum;
    }
    for (int n = static_cast<int>(threadIdx.x); n < queries * keys; n += kThreads) weights[n] = ds[n] = 0;
    __syncthreads();
    for_pairs<kScore>(p, b, h, limit, wide.scores, [&](int i, int j, float score, int lane_of_pair, bool there) {
      float of_weight = 0;
      if (grads != nullptr)
        of_weight = pair_score<ScoreKind::dot, kLanes>(grads + i * value_width, p.values.at(b, kh, j), nullptr,
                                                       value_width, lane_of_pair, wide.values);
      if (lane_of_pair != 0 || !there || alive[i] == 0) return;
      float derivative;
      const float e = after_score(p, b, h, i, j, score, derivative);
      const float weight = exp2_approx(e * kLog2E - max[i]) * by[i];
      const float kept = p.dropout > 0 ? dropout_factor(p, b, h, i, j) : 1.0F;
      weights[i * keys + j] = weight * kept;
      ds[i * keys + j] = weight == 0 ? 0.0F : weight * (kept * of_weight - delta[i]) * derivative;
    });
    __syncthreads();
    if (g.values != nullptr && grads != nullptr)
      product<true, 8>(weights, keys, keys, queries, alive, grads, value_width, value_width,
                       g.values + (b * p.key_heads + kh) * p.keys * value_width, add);
    if constexpr (kScore == ScoreKind::additive) {
      additive_gradients(p, g, b, h, limit, ds, alive, add, to_scores);
    } else {
      if (g.query != nullptr)
        product<false, 8>(ds, keys, queries, limit, nullptr, p.key_rows.at(b, kh), p.key_rows.row, width,
                          g.query + p.row_index(b, h, 0) * width, false);
      if (g.keys != nullptr)
        product<true, 8>(ds, keys, keys, queries, alive, p.query.at(b, h), p.query.row, width,
                         g.keys + (b * p.key_heads + kh) * p.keys * width, add);
    }
  }
}

/// out[n] = sum over b of parts[b][n], n in lanes, b in 16 groups.
__global__ void __launch_bounds__(512) add_kernel(const float* parts, int batch, int count, float* out) {
  __shared__ float sums[16][32];
  const int n = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  if (n < count)
    for (int b = threadIdx.y; b < batch; b += 16) sum += parts[static_cast<int64_t>(b) * count + n];
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || n >= count) return;
  for (int other = 1; other < 16; ++other) sum += sums[other][threadIdx.x];
  out[n] = sum;
}

Wide wide_of(const Problem<float>& p, const float* grads) {
  const auto aligned = [](const float* x) { return reinterpret_cast<uintptr_t>(x) % 16 == 0; };
  return {copied_wide(p.query, p.width) && copied_wide(p.key_rows, p.width) && aligned(p.to_scores) &&
              p.to_scores_head % 4 == 0,
          copied_wide(p.values, p.value_width) && aligned(grads)};
}

size_t forward_shared(const Problem<float>& p) {
  return static_cast<size_t>(p.queries * p.keys + kThreads) * sizeof(float);
}
size_t backward_shared(const Problem<float>& p) {
  return static_cast<size_t>(2 * p.queries * p.keys + 4 * p.queries) * sizeof(float);
}

}  // namespace

void add_over_batch(const float* parts, int64_t batch, int64_t count, float* out, Stream stream) {
  add_kernel<<<static_cast<unsigned>(divided_up(count, 32)), dim3(32, 16), 0, stream>>>(parts, static_cast<int>(batch),
                                                                                        static_cast<int>(count), out);
}

namespace in_block {

bool fits(const Problem<float>& p) {
  return p.queries * p.keys <= kMaxPairs && p.queries <= 1024;
}

size_t backward_bytes(const Problem<float>& p, const Gradients<float>& g) {
  Workspace workspace(nullptr);
  if (g.to_scores != nullptr) workspace.take<float>(p.batch * p.heads * p.width);
  return workspace.bytes();
}

void forward(const Problem<float>& p, Stream stream) {
  const auto blocks = static_cast<unsigned>(p.batch * p.heads);
  const auto launch = [&](auto* kernel) {
    kernel<<<blocks, kThreads, forward_shared(p), stream>>>(p, wide_of(p, nullptr));
  };
  const bool steps = has_steps(p);
  if (p.score == ScoreKind::additive)
    launch(steps ? forward_kernel<ScoreKind::additive, true> : forward_kernel<ScoreKind::additive, false>);
  else
    launch(steps ? forward_kernel<ScoreKind::dot, true> : forward_kernel<ScoreKind::dot, false>);
}

void backward(const Problem<float>& p, const Gradients<float>& g, void* memory, Stream stream) {
  Workspace workspace(memory);
  float* to_scores = g.to_scores == nullptr ? nullptr : workspace.take<float>(p.batch * p.heads * p.width);
  const auto blocks = static_cast<unsigned>(p.batch * p.key_heads);
  const Wide wide = wide_of(p, g.context);
  if (p.score == ScoreKind::additive)
    backward_kernel<ScoreKind::additive><<<blocks, kThreads, backward_shared(p), stream>>>(p, g, to_scores, wide);
  else
    backward_kernel<ScoreKind::dot><<<blocks, kThreads, backward_shared(p), stream>>>(p, g, nullptr, wide);
  if (to_scores != nullptr) add_over_batch(to_scores, p.batch, p.heads * p.width, g.to_scores, stream);
}

}  // namespace in_block
}  // namespace heed::kernels::cuda
