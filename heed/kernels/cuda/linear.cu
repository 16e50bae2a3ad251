// Tiles of 32 x 32 sums. Four groups of 64 threads share the products of a tile: each adds every fourth 16 of them, 4 x
// 4 sums for a thread, and the groups' sums are added in order. The next inputs are read while the present ones are
// used.

#include <cuda_runtime.h>

#include "heed/kernels/cuda/launch.h"
#include "heed/kernels/cuda/linear.h"

namespace heed::kernels::cuda {
namespace {

constexpr int kTile = 32, kThreads = 256, kGroups = 4;
constexpr int kDepth = 64;       // products of one sum that shared memory holds
constexpr int kRow = kTile + 4;  // floats from one row of shared memory to the next
constexpr int kLoads = kTile * kDepth / kThreads;
constexpr int64_t kSmall = int64_t{1} << 26;  // products of a layer

/// Element (i, k) of a factor: i is a row or a column of the result, k counts what is added.
struct Factor {
  const float* data = nullptr;
  int64_t of_i = 0, of_k = 0;  // strides; one of them is 1
  int count = 0;               // of i
};

/// c [rows][columns] = sum over k of a(row, k) b(column, k) + bias(column).
struct Product {
  Factor a, b;
  int depth = 0;
  const float* bias = nullptr;
  float* c = nullptr;
  float* sums = nullptr;  // [rows]: of a over k, or null
};

/// Where a thread reads its n-th element of a tile: neighbors in a warp read neighbors in memory.
template <bool kAlongDepth>
__device__ __forceinline__ int2 position(int n) {  // i, k
  const int t = static_cast<int>(threadIdx.x);
  return kAlongDepth ? make_int2(t / 8, t % 8 + 8 * n) : make_int2(t % 32, t / 32 + 8 * n);
}

template <bool kAlongDepth>
__device__ __forceinline__ void read(const Factor& f, int first, int depth, int from, float (&to)[kLoads]) {
#pragma unroll
  for (int n = 0; n < kLoads; ++n) {
    const int2 at = position<kAlongDepth>(n);
    const int i = first + at.x, k = from + at.y;
    to[n] = i < f.count && k < depth ? f.data[i * f.of_i + k * f.of_k] : 0.0F;
  }
}

template <bool kAlongDepth>
__device__ __forceinline__ void store(const float (&from)[kLoads], float (*to)[kRow]) {
#pragma unroll
  for (int n = 0; n < kLoads; ++n) {
    const int2 at = position<kAlongDepth>(n);
    to[at.y][at.x] = from[n];
  }
}

struct Shared {
  union {
    struct {
      float a[kDepth][kRow], b[kDepth][kRow];
    } in;
    float sums[kGroups][kTile][kTile];
  };
  float rows[kGroups][kTile];
};

/// One tile of the result. kA, kB: whether the factors lie along the depth.
template <bool kA, bool kB>
__device__ __forceinline__ void tile_of(const Product& p, int tile, Shared& s) {
  const int across = max(1, (p.b.count + kTile - 1) / kTile);
  const int row = tile / across * kTile, column = tile % across * kTile;
  const int t = static_cast<int>(threadIdx.x), group = t / 64, i = t % 64 / 8 * 4, j = t % 8 * 4;
  const bool sums = p.sums != nullptr && column == 0;
  float a[kLoads], b[kLoads], sum[4][4] = {}, of_row[4] = {};
  read<kA>(p.a, row, p.depth, 0, a);
  read<kB>(p.b, column, p.depth, 0, b);
  for (int from = 0; from < p.depth; from += kDepth) {
    store<kA>(a, s.in.a);
    store<kB>(b, s.in.b);
    __syncthreads();
    if (from + kDepth < p.depth) {
      read<kA>(p.a, row, p.depth, from + kDepth, a);
      read<kB>(p.b, column, p.depth, from + kDepth, b);
    }
#pragma unroll
    for (int n = 0; n < kDepth / kGroups; ++n) {
      const int k = group * (kDepth / kGroups) + n;
      const float4 x = *reinterpret_cast<const float4*>(&s.in.a[k][i]);
      const float4 y = *reinterpret_cast<const float4*>(&s.in.b[k][j]);
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int u = 0; u < 4; ++u)
#pragma unroll
        for (int v = 0; v < 4; ++v) sum[u][v] = fmaf(xs[u], ys[v], sum[u][v]);
      if (sums)
#pragma unroll
        for (int u = 0; u < 4; ++u) of_row[u] += xs[u];
    }
    __syncthreads();
  }
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    *reinterpret_cast<float4*>(&s.sums[group][i + u][j]) = make_float4(sum[u][0], sum[u][1], sum[u][2], sum[u][3]);
    if (sums && j == 0) s.rows[group][i + u] = of_row[u];
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < kTile * kTile / kThreads; ++n) {
    const int u = t / kTile + n * (kThreads / kTile), v = t % kTile;
    if (row + u >= p.a.count || column + v >= p.b.count) continue;
    float all = p.bias == nullptr ? 0.0F : p.bias[column + v];
#pragma unroll
    for (int g = 0; g < kGroups; ++g) all += s.sums[g][u][v];
    p.c[static_cast<int64_t>(row + u) * p.b.count + column + v] = all;
  }
  if (!sums || t >= kTile || row + t >= p.a.count) return;
  float all = 0;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) all += s.rows[g][t];
  p.sums[row + t] = all;
}

__global__ void __launch_bounds__(kThreads) forward_kernel(const __grid_constant__ Product p) {
  __shared__ __align__(16) Shared s;
  tile_of<true, true>(p, static_cast<int>(blockIdx.x), s);
}

/// Both products at once: the blocks before `of_x` have the gradient of x, the others that of the weights.
__global__ void __launch_bounds__(kThreads)
    backward_kernel(const __grid_constant__ Product x, const __grid_constant__ Product weight, int of_x) {
  __shared__ __align__(16) Shared s;
  const int tile = static_cast<int>(blockIdx.x);
  if (tile < of_x)
    tile_of<true, false>(x, tile, s);
  else
    tile_of<false, false>(weight, tile - of_x, s);
}

int tiles(const Product& p) {
  return static_cast<int>(divided_up(p.a.count, kTile) * divided_up(p.b.count, kTile));
}

}  // namespace

bool is_small(const Linear& p) {
  constexpr int64_t kMost = int64_t{1} << 20;
  return p.rows > 0 && p.in > 0 && p.out > 0 && p.rows < kMost && p.in < kMost && p.out < kMost &&
         p.rows * p.in * p.out <= kSmall;
}

void forward(const Linear& p, float* y, CUstream_st* stream) {
  const int rows = static_cast<int>(p.rows), in = static_cast<int>(p.in), out = static_cast<int>(p.out);
  const Product product{.a = {p.x, p.in, 1, rows}, .b = {p.weight, p.in, 1, out}, .depth = in, .bias = p.bias, .c = y};
  forward_kernel<<<static_cast<unsigned>(tiles(product)), kThreads, 0, stream>>>(product);
}

void backward(const Linear& p, const LinearGradients& g, CUstream_st* stream) {
  const int rows = static_cast<int>(p.rows), in = static_cast<int>(p.in), out = static_cast<int>(p.out);
  Product x, weight;
  int of_x = 0, of_weight = 0;
  if (g.x != nullptr) {
    x = {.a = {g.y, p.out, 1, rows}, .b = {p.weight, 1, p.in, in}, .depth = out, .c = g.x};
    of_x = tiles(x);
  }
  if (g.weight != nullptr || g.bias != nullptr) {
    // Without a gradient of the weights the sums alone: of products with no column.
    const int columns = g.weight == nullptr ? 0 : in;
    weight = {.a = {g.y, 1, p.out, out}, .b = {p.x, 1, p.in, columns}, .depth = rows, .c = g.weight, .sums = g.bias};
    of_weight = columns == 0 ? static_cast<int>(divided_up(out, kTile)) : tiles(weight);
  }
  if (of_x + of_weight == 0) return;
  backward_kernel<<<static_cast<unsigned>(of_x + of_weight), kThreads, 0, stream>>>(x, weight, of_x);
}

}  // namespace heed::kernels::cuda
