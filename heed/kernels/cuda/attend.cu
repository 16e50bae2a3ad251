#include <atomic>
#include <limits>

#include "heed/kernels/cuda/attend.h"
#include "heed/kernels/cuda/device.cuh"
#include "heed/kernels/cuda/launch.h"

namespace heed::kernels::cuda {
namespace {

constexpr int kThreads = 256, kLanes = 8;

__global__ void __launch_bounds__(kThreads) lse_kernel(const RowStats<float>* rows, int64_t count, float* lse) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row < count) lse[row] = rows[row].sum == 0 ? -INFINITY : (rows[row].max + log2f(rows[row].sum)) * kLn2;
}

/// The weights of one query of one head for each block.
template <ScoreKind kScore>
__global__ void __launch_bounds__(kThreads)
    weights_kernel(const __grid_constant__ Problem<float> p, const __grid_constant__ RequestedOutputs<float> wanted) {
  const int64_t queries = wanted.query_count > 0 ? wanted.query_count : p.queries;
  const int64_t heads = wanted.head_count > 0 ? wanted.head_count : p.heads;
  const int64_t row = blockIdx.x, b = row / queries / heads;
  const int64_t h = wanted.head_count > 0 ? wanted.some_heads[row / queries % heads] : row / queries % heads;
  const int64_t i = wanted.query_count > 0 ? wanted.some_queries[row % queries] : row % queries;
  const RowStats<float> stats = p.rows[p.row_index(b, h, i)];
  const int limit = key_limit(p, static_cast<int>(b)), lane = threadIdx.x % kLanes, width = static_cast<int>(p.width);
  const float by = stats.sum == 0 ? 0.0F : 1.0F / stats.sum;
  const float* w = kScore == ScoreKind::additive ? weights_of_head(p, static_cast<int>(h)) : nullptr;
  float* out = wanted.weights + row * p.keys;
  for (int64_t first = 0; first < p.keys; first += kThreads / kLanes) {
    const int64_t j = first + threadIdx.x / kLanes;
    const bool there = j < limit && stats.sum != 0;
    const float score = pair_score<kScore, kLanes>(p.query.at(b, h, i), p.key_rows.at(b, h / p.group(), there ? j : 0),
                                                   w, there ? width : 0, lane);
    float weight = 0, derivative;
    if (there)
      weight = exp2_approx(after_score(p, static_cast<int>(b), static_cast<int>(h), static_cast<int>(i),
                                       static_cast<int>(j), score, derivative) *
                               kLog2E -
                           stats.max) *
               by;
    if (lane == 0 && j < p.keys) out[j] = weight;
  }
}

template <ScoreKind kScore>
__global__ void __launch_bounds__(kThreads)
    links_kernel(const __grid_constant__ Problem<float> p, const __grid_constant__ RequestedOutputs<float> wanted) {
  const int64_t n = static_cast<int64_t>(blockIdx.x) * (kThreads / kLanes) + threadIdx.x / kLanes;
  const bool asked = n < wanted.link_count;
  const int64_t* link = wanted.links + 4 * (asked ? n : 0);
  const int64_t b = link[0], h = link[1], i = link[2], j = link[3];
  const RowStats<float> stats = p.rows[p.row_index(b, h, i)];
  const bool there = asked && j < key_limit(p, static_cast<int>(b)) && stats.sum != 0;
  const float* w = kScore == ScoreKind::additive ? weights_of_head(p, static_cast<int>(h)) : nullptr;
  const int lane = threadIdx.x % kLanes;
  const float score = pair_score<kScore, kLanes>(p.query.at(b, h, i), p.key_rows.at(b, h / p.group(), there ? j : 0), w,
                                                 there ? static_cast<int>(p.width) : 0, lane);
  if (lane != 0 || !asked) return;
  float derivative, e = -INFINITY;
  if (there)
    e = after_score(p, static_cast<int>(b), static_cast<int>(h), static_cast<int>(i), static_cast<int>(j), score,
                    derivative);
  wanted.link_log_weights[n] = e == -INFINITY ? e : e - (stats.max + log2f(stats.sum)) * kLn2;
}

template <ScoreKind kScore>
void report_as(const Problem<float>& p, const RequestedOutputs<float>& wanted, Stream stream) {
  if (wanted.weights != nullptr) {
    const int64_t rows = p.batch * (wanted.head_count > 0 ? wanted.head_count : p.heads) *
                         (wanted.query_count > 0 ? wanted.query_count : p.queries);
    weights_kernel<kScore><<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(p, wanted);
  }
  if (wanted.link_log_weights != nullptr && wanted.link_count > 0)
    links_kernel<kScore>
        <<<static_cast<unsigned>(divided_up(wanted.link_count, kThreads / kLanes)), kThreads, 0, stream>>>(p, wanted);
}

}  // namespace

int64_t max_shared_bytes() {
  constexpr int kDevices = 64;
  static std::atomic<int> known[kDevices];  // 0: not asked yet
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= kDevices) return 99 << 10;
  if (known[device] == 0 &&
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess)
    known[device] = bytes;
  return known[device] == 0 ? 99 << 10 : known[device].load();
}

const char* why_not(const Problem<float>& p) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 4;
  if (p.score != ScoreKind::additive && p.score != ScoreKind::dot)
    return "the CUDA kernels compute dot and additive scores";
  if (p.score == ScoreKind::dot && p.activation != Activation::identity)
    return "the CUDA kernels have no activation of a product";
  if (p.align != AlignKind::softmax || p.gauss != Gauss::none || p.perturb || p.temperature != 1)
    return "the CUDA kernels align by softmax";
  if (p.mask.center != nullptr) return "the CUDA kernels have no window around a predicted position";
  if (p.batch * p.heads * divided_up(p.queries, 64) > kMost || p.keys > 65535 * 64)
    return "the call has more queries or keys than the CUDA kernels count";
  if (tiled::shared_bytes(p) > max_shared_bytes()) return "the score has more features than the CUDA kernels hold";
  return "";
}

const char* why_not(const Problem<float>& p, const RequestedOutputs<float>& wanted) {
  if (wanted.entropy != nullptr || wanted.column_mass != nullptr || wanted.top > 0 || wanted.log_probability != nullptr)
    return "the CUDA kernels report weights, lse and links, and other outputs are requested";
  return why_not(p);
}

const char* why_not(const Problem<float>& p, const Gradients<float>& g) {
  if (g.weights != nullptr || g.entropy != nullptr || g.column_mass != nullptr || g.top_weights != nullptr ||
      g.link_log_weights != nullptr || g.log_probability != nullptr)
    return "the CUDA kernels have gradients of context and lse";
  if (g.full || g.per_key || g.relative != nullptr || g.alibi != nullptr || g.position != nullptr || g.alpha != nullptr)
    return "the CUDA kernels have no gradients with respect to biases";
  return why_not(p);
}

const char* kernel_name(const Problem<float>& p) {
  const bool additive = p.score == ScoreKind::additive;
  if (one_query::fits(p)) return "cuda one query: dot x softmax";
  if (one_additive::fits(p)) return "cuda one query: additive x softmax";
  if (short_dot::fits(p)) return "cuda short: dot x softmax";
  if (in_block::fits(p)) return additive ? "cuda block: additive x softmax" : "cuda block: dot x softmax";
  return additive ? "cuda tiles: additive x softmax" : "cuda tiles: dot x softmax";
}

size_t forward_bytes(const Problem<float>& p) {
  return one_query::fits(p) || one_additive::fits(p) || in_block::fits(p) || short_dot::fits(p)
             ? 0
             : tiled::forward_bytes(p);
}
size_t backward_bytes(const Problem<float>& p, const Gradients<float>& g) {
  if (short_dot::fits(p)) return 0;
  if (one_additive::fits(p, g)) return one_additive::backward_bytes(p, g);
  return in_block::fits(p) ? in_block::backward_bytes(p, g) : tiled::backward_bytes(p, g);
}
size_t report_bytes(const Problem<float>&, const RequestedOutputs<float>&) {
  return 0;
}

void forward(const Problem<float>& p, void* workspace, Stream stream) {
  if (one_query::fits(p))
    one_query::forward(p, stream);
  else if (one_additive::fits(p))
    one_additive::forward(p, stream);
  else if (short_dot::fits(p))
    short_dot::forward(p, stream);
  else if (in_block::fits(p))
    in_block::forward(p, stream);
  else
    tiled::forward(p, workspace, stream);
}

void backward(const Problem<float>& p, const Gradients<float>& g, void* workspace, Stream stream) {
  if (g.values != nullptr && g.context == nullptr)
    cudaMemsetAsync(g.values, 0, static_cast<size_t>(p.batch * p.key_heads * p.keys * p.value_width) * sizeof(float),
                    stream);
  if (short_dot::fits(p))
    short_dot::backward(p, g, stream);
  else if (one_additive::fits(p, g))
    one_additive::backward(p, g, workspace, stream);
  else if (in_block::fits(p))
    in_block::backward(p, g, workspace, stream);
  else
    tiled::backward(p, g, workspace, stream);
}

void report(const Problem<float>& p, const RequestedOutputs<float>& wanted, void*, Stream stream) {
  if (wanted.lse != nullptr) {
    const int64_t rows = p.batch * p.heads * p.queries;
    lse_kernel<<<static_cast<unsigned>(divided_up(rows, kThreads)), kThreads, 0, stream>>>(p.rows, rows, wanted.lse);
  }
  if (p.score == ScoreKind::additive)
    report_as<ScoreKind::additive>(p, wanted, stream);
  else
    report_as<ScoreKind::dot>(p, wanted, stream);
}

}  // namespace heed::kernels::cuda
