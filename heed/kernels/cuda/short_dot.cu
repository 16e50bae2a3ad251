// Short sequences with the dot product, as in translation: one block of threads holds queries, keys, values and weights
// of one head in shared memory, so that forward and backward are one launch each and every input is read once.

#include <algorithm>

#include "heed/kernels/cuda/panels.cuh"

namespace heed::kernels::cuda {
namespace {

constexpr int kBlock = 128, kWarps = kBlock / 32;
constexpr int64_t kMaxPairs = 4096;
constexpr size_t kMaxBytes = 110 << 10;  // two blocks on a multiprocessor

HEED_INLINE int four(int64_t x) {
  return static_cast<int>((x + 3) / 4 * 4);
}
/// Floats between rows in shared memory: rows that follow each other begin 4 banks apart, for widths like 64.
HEED_INLINE int row_of(int64_t width) {
  return four(width) + 4;
}

/// Copies rows [0, count) to shared memory; further rows up to a multiple of 4, and columns, are 0.
__device__ void load_rows(float* to, const float* from, int64_t row, int rows, int count, int width, bool wide) {
  const int across = four(width), stride = row_of(width);
  if (wide) {
    for (int n = threadIdx.x; n < four(rows) * across / 4; n += kBlock) {
      const int r = n / (across / 4), c = n % (across / 4) * 4;
      copy_16(to + r * stride + c, r < count ? from + r * row + c : from, r < count);
    }
  } else {
    for (int n = threadIdx.x; n < four(rows) * across; n += kBlock) {
      const int r = n / across, c = n % across;
      const bool there = r < count && c < width;
      copy_4(to + r * stride + c, there ? from + r * row + c : from, there);
    }
  }
}

/// Calls each(i, j, sum) with sum = a_i . b_j for rows i < rows, j < columns. A thread has 2 x 2 pairs at a time.
template <class Each>
__device__ void row_products(const float* a, const float* b, int stride, int width, int rows, int columns,
                             const Each& each) {
  const int rows2 = (rows + 1) / 2, columns2 = (columns + 1) / 2;
  for (int n = threadIdx.x; n < rows2 * columns2; n += kBlock) {
    const int i = n / columns2, j = n % columns2;
    const float *a0 = a + i * stride, *a1 = a0 + rows2 * stride, *b0 = b + j * stride, *b1 = b0 + columns2 * stride;
    float sums[2][2] = {};
#pragma unroll 4
    for (int f = 0; f < width; f += 4) {
      const float4 x0 = *reinterpret_cast<const float4*>(a0 + f), x1 = *reinterpret_cast<const float4*>(a1 + f);
      const float4 y0 = *reinterpret_cast<const float4*>(b0 + f), y1 = *reinterpret_cast<const float4*>(b1 + f);
      const auto add = [](float sum, const float4& x, const float4& y) {
        return fmaf(x.w, y.w, fmaf(x.z, y.z, fmaf(x.y, y.y, fmaf(x.x, y.x, sum))));
      };
      sums[0][0] = add(sums[0][0], x0, y0);
      sums[0][1] = add(sums[0][1], x0, y1);
      sums[1][0] = add(sums[1][0], x1, y0);
      sums[1][1] = add(sums[1][1], x1, y1);
    }
    each(i, j, sums[0][0]);
    if (j + columns2 < columns) each(i, j + columns2, sums[0][1]);
    if (i + rows2 < rows) each(i + rows2, j, sums[1][0]);
    if (i + rows2 < rows && j + columns2 < columns) each(i + rows2, j + columns2, sums[1][1]);
  }
}

/// out[r][c] = sum over s < sums of m[r][s] x[s][c] (kTransposed: m[s][r]), for r < rows. A thread has 4 x 4 numbers.
template <bool kTransposed>
__device__ void product(const float* m, int m_row, const float* x, int x_row, int rows, int sums, int width, float* out,
                        bool add) {
  const int across = four(width) / 4;
  for (int n = threadIdx.x; n < four(rows) / 4 * across; n += kBlock) {
    const int r = n / across * 4, c = n % across * 4;
    float own[4][4] = {};
    const auto add_row = [&](const float(&by)[4], int s) {
      const float4 value = *reinterpret_cast<const float4*>(x + s * x_row + c);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        own[i][0] = fmaf(by[i], value.x, own[i][0]);
        own[i][1] = fmaf(by[i], value.y, own[i][1]);
        own[i][2] = fmaf(by[i], value.z, own[i][2]);
        own[i][3] = fmaf(by[i], value.w, own[i][3]);
      }
    };
    if constexpr (kTransposed) {
#pragma unroll 4
      for (int s = 0; s < sums; ++s) {
        const float4 by = *reinterpret_cast<const float4*>(m + s * m_row + r);
        add_row({by.x, by.y, by.z, by.w}, s);
      }
    } else {
      for (int s = 0; s < sums; s += 4) {  // m is 0, and x finite, up to a multiple of 4
        float4 by[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) by[i] = *reinterpret_cast<const float4*>(m + (r + i) * m_row + s);
        add_row({by[0].x, by[1].x, by[2].x, by[3].x}, s);
        add_row({by[0].y, by[1].y, by[2].y, by[3].y}, s + 1);
        add_row({by[0].z, by[1].z, by[2].z, by[3].z}, s + 2);
        add_row({by[0].w, by[1].w, by[2].w, by[3].w}, s + 3);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (r + i >= rows) continue;
      float* to = out + static_cast<int64_t>(r + i) * width + c;
      if (!add && width % 4 == 0 && reinterpret_cast<uintptr_t>(to) % 16 == 0) {
        *reinterpret_cast<float4*>(to) = {own[i][0], own[i][1], own[i][2], own[i][3]};
        continue;
      }
#pragma unroll
      for (int u = 0; u < 4; ++u)
        if (c + u < width) to[u] = add ? to[u] + own[i][u] : own[i][u];
    }
  }
}

struct Wide {
  bool query, keys, values, grads;
};

__global__ void __launch_bounds__(kBlock)
    forward_kernel(const __grid_constant__ Problem<float> p, Wide wide, bool steps) {
  extern __shared__ __align__(16) float memory[];
  const int h = blockIdx.x % p.heads, b = blockIdx.x / p.heads, kh = h / static_cast<int>(p.group());
  const int queries = static_cast<int>(p.queries), keys = static_cast<int>(p.keys), limit = key_limit(p, b);
  const int width = static_cast<int>(p.width), value_width = static_cast<int>(p.value_width);
  const int stride = row_of(width), value_stride = row_of(value_width), weight_stride = row_of(keys);
  float *query = memory, *key = query + four(queries) * stride, *value = key + four(keys) * stride;
  float* weights = value + four(keys) * value_stride;  // [four(queries)][weight_stride]
  load_rows(query, p.query.at(b, h), p.query.row, queries, limit == 0 ? 0 : queries, width, wide.query);
  load_rows(key, p.key_rows.at(b, kh), p.key_rows.row, keys, limit, width, wide.keys);
  copies_end_group();
  load_rows(value, p.values.at(b, kh), p.values.row, keys, limit, value_width, wide.values);
  copies_end_group();
  for (int n = threadIdx.x; n < four(queries) * weight_stride; n += kBlock) weights[n] = 0;
  wait_for_copies<1>();
  __syncthreads();
  row_products(query, key, stride, four(width), queries, limit, [&](int i, int j, float score) {
    float derivative;
    weights[i * weight_stride + j] = (steps ? after_score(p, b, h, i, j, score, derivative) : score) * kLog2E;
  });
  wait_for_copies<0>();
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x) / 32; i < queries; i += kWarps)
    align_row(p, b, h, i, weights + i * weight_stride, limit);
  __syncthreads();
  product<false>(weights, weight_stride, value, value_stride, queries, limit, value_width,
                 p.context + p.row_index(b, h, 0) * value_width, false);
}

__global__ void __launch_bounds__(kBlock)
    backward_kernel(const __grid_constant__ Problem<float> p, const __grid_constant__ Gradients<float> g, Wide wide) {
  extern __shared__ __align__(16) float memory[];
  const int kh = blockIdx.x % p.key_heads, b = blockIdx.x / p.key_heads, group = static_cast<int>(p.group());
  const int queries = static_cast<int>(p.queries), keys = static_cast<int>(p.keys), limit = key_limit(p, b);
  const int width = static_cast<int>(p.width), value_width = static_cast<int>(p.value_width);
  const int stride = row_of(width), value_stride = row_of(value_width), weight_stride = row_of(keys);
  float *query = memory, *key = query + four(queries) * stride, *value = key + four(keys) * stride;
  float *grads = value + four(keys) * value_stride, *weights = grads + four(queries) * value_stride;
  float *ds = weights + four(queries) * weight_stride, *delta = ds + four(queries) * weight_stride;
  float *max = delta + four(queries), *by = max + four(queries);
  load_rows(key, p.key_rows.at(b, kh), p.key_rows.row, keys, limit, width, wide.keys);
  load_rows(value, p.values.at(b, kh), p.values.row, keys, limit, value_width, wide.values);
  for (int h = kh * group; h < (kh + 1) * group; ++h) {
    const bool add = h > kh * group;
    const float* given = g.context == nullptr ? nullptr : g.context + p.row_index(b, h, 0) * value_width;
    __syncthreads();
    load_rows(query, p.query.at(b, h), p.query.row, queries, limit == 0 ? 0 : queries, width, wide.query);
    load_rows(grads, given == nullptr ? p.context : given, value_width, queries, given == nullptr ? 0 : queries,
              value_width, wide.grads);
    copies_end_group();
    const int lane = threadIdx.x % 32;
    for (int i = static_cast<int>(threadIdx.x) / 32; i < queries; i += kWarps) {
      const float* context = p.context + p.row_index(b, h, i) * value_width;
      float sum = 0;
      for (int c = lane; c < value_width && given != nullptr; c += 32)
        sum = fmaf(given[i * value_width + c], context[c], sum);
      sum = sum_of_lanes<32>(sum);
      if (lane != 0) continue;
      const RowStats<float> stats = p.rows[p.row_index(b, h, i)];
      delta[i] = g.lse == nullptr ? sum : sum - g.lse[p.row_index(b, h, i)];
      max[i] = stats.max;
      by[i] = stats.sum == 0 ? 0.0F : 1.0F / stats.sum;
    }
    for (int n = threadIdx.x; n < 2 * four(queries) * weight_stride; n += kBlock) weights[n] = 0;
    wait_for_copies<0>();
    __syncthreads();
    // A query that attends nothing may be NaN, as its gradient may, and has no part in sums over queries.
    for (int n = threadIdx.x; n < queries * stride; n += kBlock)
      if (by[n / stride] == 0) query[n] = 0;
    for (int n = threadIdx.x; n < queries * value_stride; n += kBlock)
      if (by[n / value_stride] == 0) grads[n] = 0;
    __syncthreads();
    row_products(grads, value, value_stride, four(value_width), queries, limit,
                 [&](int i, int j, float product) { ds[i * weight_stride + j] = product; });
    __syncthreads();
    row_products(query, key, stride, four(width), queries, limit, [&](int i, int j, float score) {
      float& of_score = ds[i * weight_stride + j];
      if (by[i] == 0) {
        of_score = 0;
        return;
      }
      float derivative;
      const float e = after_score(p, b, h, i, j, score, derivative);
      const float weight = exp2_approx(e * kLog2E - max[i]) * by[i];
      const float kept = p.dropout > 0 ? dropout_factor(p, b, h, i, j) : 1.0F;
      weights[i * weight_stride + j] = weight * kept;
      of_score = weight == 0 ? 0.0F : weight * (kept * of_score - delta[i]) * derivative;
    });
    __syncthreads();
    const int64_t first_key = (b * p.key_heads + kh) * p.keys;
    if (g.values != nullptr && given != nullptr)
      product<true>(weights, weight_stride, grads, value_stride, keys, queries, value_width,
                    g.values + first_key * value_width, add);
    if (g.query != nullptr)
      product<false>(ds, weight_stride, key, stride, queries, limit, width, g.query + p.row_index(b, h, 0) * width,
                     false);
    if (g.keys != nullptr)
      product<true>(ds, weight_stride, query, stride, keys, queries, width, g.keys + first_key * width, add);
  }
}

size_t forward_shared(const Problem<float>& p) {
  return sizeof(float) * static_cast<size_t>((four(p.queries) + four(p.keys)) * row_of(p.width) +
                                             four(p.keys) * row_of(p.value_width) + four(p.queries) * row_of(p.keys));
}
size_t backward_shared(const Problem<float>& p) {
  return sizeof(float) *
         static_cast<size_t>((four(p.queries) + four(p.keys)) * (row_of(p.width) + row_of(p.value_width)) +
                             2 * four(p.queries) * row_of(p.keys) + 3 * four(p.queries));
}

Wide wide_of(const Problem<float>& p, const float* grads) {
  return {copied_wide(p.query, p.width), copied_wide(p.key_rows, p.width), copied_wide(p.values, p.value_width),
          reinterpret_cast<uintptr_t>(grads) % 16 == 0 && p.value_width % 4 == 0};
}

}  // namespace

namespace short_dot {

bool fits(const Problem<float>& p) {
  return p.score == ScoreKind::dot && p.queries > 1 && p.queries * p.keys <= kMaxPairs && p.width <= 512 &&
         p.value_width <= 512 &&
         static_cast<int64_t>(backward_shared(p)) <= std::min<int64_t>(kMaxBytes, max_shared_bytes());
}

void forward(const Problem<float>& p, Stream stream) {
  const size_t bytes = forward_shared(p);
  cudaFuncSetAttribute(forward_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  forward_kernel<<<static_cast<unsigned>(p.batch * p.heads), kBlock, bytes, stream>>>(p, wide_of(p, nullptr),
                                                                                      has_steps(p));
}

void backward(const Problem<float>& p, const Gradients<float>& g, Stream stream) {
  const size_t bytes = backward_shared(p);
  cudaFuncSetAttribute(backward_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  backward_kernel<<<static_cast<unsigned>(p.batch * p.key_heads), kBlock, bytes, stream>>>(
      p, g, wide_of(p, g.context == nullptr ? p.context : g.context));
}

}  // namespace short_dot
}  // namespace heed::kernels::cuda
