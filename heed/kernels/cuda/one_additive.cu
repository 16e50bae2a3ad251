// One query with the additive score, as in a decoder's step: one block for a head, one warp for a key at a time. A warp
// reads key and value together, and no other warp waits for it: the forward pass joins the warps' softmax sums at its
// end, the backward pass their gradients of query and w.

#include <type_traits>

#include "heed/kernels/cuda/device.cuh"
#include "heed/kernels/cuda/launch.h"

namespace heed::kernels::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kWords = 4 * 32;       // features that a warp reads at once, 16 bytes for a lane
constexpr int kMostWords = 4;        // of them in a row
constexpr int64_t kMostKeys = 4096;  // more are split among blocks elsewhere

/// A row of features in the registers of a warp; zeros after its end.
template <int kCount>
struct Row {
  float4 word[kCount];

  __device__ __forceinline__ void read(const float* from, int width, int lane) {
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const int f = 4 * lane + kWords * u;
      word[u] = f < width ? *reinterpret_cast<const float4*>(from + f) : float4{};
    }
  }
  __device__ __forceinline__ void write(float* to, int width, int lane) const {
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const int f = 4 * lane + kWords * u;
      if (f < width) *reinterpret_cast<float4*>(to + f) = word[u];
    }
  }
  __device__ __forceinline__ float& operator[](int n) {
    return reinterpret_cast<float*>(word)[n];
  }
  __device__ __forceinline__ float operator[](int n) const {
    return reinterpret_cast<const float*>(word)[n];
  }
  static constexpr int kFloats = 4 * kCount;
};

/// e = sum of w (1 - 2 r); leaves r in `key`. In all lanes.
template <int kCount>
__device__ __forceinline__ float score_of(const Row<kCount>& query, const Row<kCount>& w, Row<kCount>& key) {
  float sum = 0;
#pragma unroll
  for (int n = 0; n < Row<kCount>::kFloats; ++n) {
    key[n] = tanh_ratio(query[n] + key[n]);
    sum = fmaf(w[n], fmaf(-2.0F, key[n], 1.0F), sum);
  }
  return sum_of_lanes<32>(sum);
}

template <int kOfKey, int kOfValue>
__global__ void __launch_bounds__(kThreads, 2) forward_kernel(const __grid_constant__ Problem<float> p, bool steps) {
  __shared__ __align__(16) float contexts[kWarps][kWords * kOfValue];
  __shared__ float maxima[kWarps], sums[kWarps];
  const int h = static_cast<int>(blockIdx.x % p.heads), b = static_cast<int>(blockIdx.x / p.heads);
  const int kh = h / static_cast<int>(p.group()), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int width = static_cast<int>(p.width), value_width = static_cast<int>(p.value_width), limit = key_limit(p, b);
  Row<kOfKey> query, w;
  query.read(p.query.at(b, h, 0), width, lane);
  w.read(weights_of_head(p, h), width, lane);
  Row<kOfValue> context{};
  float max = -INFINITY, sum = 0;
  const auto add = [&](Row<kOfKey>& key, const Row<kOfValue>& value, int j) {
    float score = score_of(query, w, key), derivative;
    if (steps) score = after_score(p, b, h, 0, j, score, derivative);
    score *= kLog2E;
    const float larger = fmaxf(max, score), from = larger == -INFINITY ? 0.0F : larger;
    const float by = exp2_approx(max - from), own = exp2_approx(score - from);
    max = larger;
    sum = fmaf(sum, by, own);
    const float weight = p.dropout > 0 ? own * dropout_factor(p, b, h, 0, j) : own;
#pragma unroll
    for (int n = 0; n < Row<kOfValue>::kFloats; ++n) context[n] = fmaf(context[n], by, weight * value[n]);
  };
  int j = warp;
  for (; j + kWarps < limit; j += 2 * kWarps) {
    Row<kOfKey> key, next_key;
    Row<kOfValue> value, next_value;
    key.read(p.key_rows.at(b, kh, j), width, lane);
    next_key.read(p.key_rows.at(b, kh, j + kWarps), width, lane);
    value.read(p.values.at(b, kh, j), value_width, lane);
    next_value.read(p.values.at(b, kh, j + kWarps), value_width, lane);
    add(key, value, j);
    add(next_key, next_value, j + kWarps);
  }
  if (j < limit) {
    Row<kOfKey> key;
    Row<kOfValue> value;
    key.read(p.key_rows.at(b, kh, j), width, lane);
    value.read(p.values.at(b, kh, j), value_width, lane);
    add(key, value, j);
  }
  context.write(contexts[warp], kWords * kOfValue, lane);
  if (lane == 0) {
    maxima[warp] = max;
    sums[warp] = sum;
  }
  __syncthreads();
  max = maxima[0];
#pragma unroll
  for (int i = 1; i < kWarps; ++i) max = fmaxf(max, maxima[i]);
  const float from = max == -INFINITY ? 0.0F : max;
  float by[kWarps];
  sum = 0;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) {
    by[i] = exp2_approx(maxima[i] - from);
    sum = fmaf(sums[i], by[i], sum);
  }
  const float normalized = sum == 0 ? 0.0F : 1.0F / sum;
  for (int c = static_cast<int>(threadIdx.x); c < value_width; c += kThreads) {
    float all = 0;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) all = fmaf(contexts[i][c], by[i], all);
    p.context[p.row_index(b, h, 0) * value_width + c] = all * normalized;
  }
  if (threadIdx.x != 0) return;
  RowStats<float> stats;
  stats.max = from;
  stats.sum = sum;
  p.rows[p.row_index(b, h, 0)] = stats;
}

/// to_scores [batch][heads][width]: what each head adds to the gradient of w, or null.
template <int kOfKey, int kOfValue>
__global__ void __launch_bounds__(kThreads, kOfKey == kMostWords ? 1 : 2)
    backward_kernel(const __grid_constant__ Problem<float> p, const __grid_constant__ Gradients<float> g,
                    float* to_scores, bool steps) {
  __shared__ __align__(16) float of_queries[kWarps][kWords * kOfKey], of_ws[kWarps][kWords * kOfKey];
  const int h = static_cast<int>(blockIdx.x % p.heads), b = static_cast<int>(blockIdx.x / p.heads);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, keys = static_cast<int>(p.keys);
  const int width = static_cast<int>(p.width), value_width = static_cast<int>(p.value_width);
  const int64_t row = p.row_index(b, h, 0);
  const RowStats<float> stats = p.rows[row];
  const int limit = stats.sum == 0 ? 0 : key_limit(p, b);  // without keys every gradient is 0
  const float normalized = stats.sum == 0 ? 0.0F : 1.0F / stats.sum;
  Row<kOfKey> query, w, of_query{}, of_w{};
  query.read(p.query.at(b, h, 0), width, lane);
  w.read(weights_of_head(p, h), width, lane);
  Row<kOfValue> grad{};
  float delta = 0;
  if (g.context != nullptr) {
    Row<kOfValue> context;
    grad.read(g.context + row * value_width, value_width, lane);
    context.read(p.context + row * value_width, value_width, lane);
#pragma unroll
    for (int n = 0; n < Row<kOfValue>::kFloats; ++n) delta = fmaf(grad[n], context[n], delta);
    delta = sum_of_lanes<32>(delta);
  }
  if (g.lse != nullptr) delta -= g.lse[row];
  for (int j = warp; j < keys; j += kWarps) {
    const int64_t to = row * keys + j;  // of keys and values: as many heads as the query has
    Row<kOfKey> key{};
    Row<kOfValue> value{};
    if (j < limit) {
      key.read(p.key_rows.at(b, h, j), width, lane);
      if (g.context != nullptr) value.read(p.values.at(b, h, j), value_width, lane);
      float of_weight = 0, derivative = 1;
#pragma unroll
      for (int n = 0; n < Row<kOfValue>::kFloats; ++n) of_weight = fmaf(grad[n], value[n], of_weight);
      of_weight = sum_of_lanes<32>(of_weight);
      float score = score_of(query, w, key);
      if (steps) score = after_score(p, b, h, 0, j, score, derivative);
      const float weight = exp2_approx(score * kLog2E - stats.max) * normalized;
      const float kept = p.dropout > 0 ? dropout_factor(p, b, h, 0, j) : 1.0F;
      const float ds = weight == 0 ? 0.0F : weight * (kept * of_weight - delta) * derivative;
#pragma unroll
      for (int n = 0; n < Row<kOfKey>::kFloats; ++n) {
        const float r = key[n], part = ds * fmaf(-r, r, r);
        of_query[n] += part;
        of_w[n] = fmaf(ds, fmaf(-2.0F, r, 1.0F), of_w[n]);
        key[n] = 4.0F * w[n] * part;
      }
#pragma unroll
      for (int n = 0; n < Row<kOfValue>::kFloats; ++n) value[n] = weight * kept * grad[n];
    }
    if (g.keys != nullptr) key.write(g.keys + to * width, width, lane);
    if (g.values != nullptr && g.context != nullptr) value.write(g.values + to * value_width, value_width, lane);
  }
  of_query.write(of_queries[warp], kWords * kOfKey, lane);
  of_w.write(of_ws[warp], kWords * kOfKey, lane);
  __syncthreads();
  const float* ws = weights_of_head(p, h);
  for (int f = static_cast<int>(threadIdx.x); f < width; f += kThreads) {
    float query_sum = 0, w_sum = 0;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
      query_sum += of_queries[i][f];
      w_sum += of_ws[i][f];
    }
    if (g.query != nullptr) g.query[row * width + f] = 4.0F * ws[f] * query_sum;
    if (to_scores != nullptr) to_scores[row * width + f] = w_sum;
  }
}

bool aligned(const float* x) {
  return reinterpret_cast<uintptr_t>(x) % 16 == 0;
}

/// Calls to(constant) with the number of words in a row, rounded up to 1, 2 or 4.
template <class To>
void with_words(int64_t width, const To& to) {
  if (width <= kWords)
    to(std::integral_constant<int, 1>());
  else if (width <= 2 * kWords)
    to(std::integral_constant<int, 2>());
  else
    to(std::integral_constant<int, kMostWords>());
}

}  // namespace

namespace one_additive {

bool fits(const Problem<float>& p) {
  return p.score == ScoreKind::additive && p.queries == 1 && p.keys <= kMostKeys && p.heads == p.key_heads &&
         p.width <= kMostWords * kWords && p.value_width <= kMostWords * kWords && copied_wide(p.query, p.width) &&
         copied_wide(p.key_rows, p.width) && copied_wide(p.values, p.value_width) && aligned(p.to_scores) &&
         p.to_scores_head % 4 == 0 && aligned(p.context);
}

bool fits(const Problem<float>& p, const Gradients<float>& g) {
  return fits(p) && aligned(g.context) && aligned(g.keys) && aligned(g.values);
}

size_t backward_bytes(const Problem<float>& p, const Gradients<float>& g) {
  Workspace workspace(nullptr);
  if (g.to_scores != nullptr) workspace.take<float>(p.batch * p.heads * p.width);
  return workspace.bytes();
}

void forward(const Problem<float>& p, Stream stream) {
  const auto blocks = static_cast<unsigned>(p.batch * p.heads);
  with_words(p.width, [&](auto of_key) {
    with_words(p.value_width, [&](auto of_value) {
      forward_kernel<of_key.value, of_value.value><<<blocks, kThreads, 0, stream>>>(p, has_steps(p));
    });
  });
}

void backward(const Problem<float>& p, const Gradients<float>& g, void* memory, Stream stream) {
  Workspace workspace(memory);
  float* to_scores = g.to_scores == nullptr ? nullptr : workspace.take<float>(p.batch * p.heads * p.width);
  const auto blocks = static_cast<unsigned>(p.batch * p.heads);
  with_words(p.width, [&](auto of_key) {
    with_words(p.value_width, [&](auto of_value) {
      backward_kernel<of_key.value, of_value.value><<<blocks, kThreads, 0, stream>>>(p, g, to_scores, has_steps(p));
    });
  });
  if (to_scores != nullptr) add_over_batch(to_scores, p.batch, p.heads * p.width, g.to_scores, stream);
}

}  // namespace one_additive
}  // namespace heed::kernels::cuda
