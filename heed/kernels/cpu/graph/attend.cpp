#include "heed/kernels/cpu/graph/attend.h"

#include <algorithm>
#include <memory>
#include <string>

#include "heed/kernels/cpu/attend.h"
#include "heed/kernels/cpu/graph/pass.h"

namespace heed::kernels::cpu::graph {
namespace {

size_t at(int64_t i) {
  return static_cast<size_t>(i);
}

/// The instruction set of the fused kernels; there is no AVX-512 version, AVX2 is used instead.
template <typename Real>
const Kernels<Real>& kernels() {
  if constexpr (sizeof(Real) == 8) {
    return double_kernels();
  } else {
#if defined(__x86_64__)
    if (instruction_set() != portable_kernels().name) return avx2_kernels();
#endif
    return portable_kernels();
  }
}

/// Uninitialized memory.
template <typename Real>
std::unique_ptr<Real[]> buffer_for(int64_t n) {
  return std::make_unique_for_overwrite<Real[]>(at(n));
}

template <typename Real>
GraphPass<Real> work_on(const Edges& edges, const Score<Real>& score, const Values<Real>& values) {
  GraphPass<Real> work;
  work.in = {edges.first.data(), edges.from.data(), nullptr, edges.size()};
  work.out = {edges.first_out.data(), edges.to.data(), edges.position.data(), edges.size()};
  work.score = score;
  work.values = values;
  return work;
}

int64_t largest_run(const Edges& edges, int64_t from, int64_t to) {
  int64_t max = 0;
  for (int64_t i = from; i < to; ++i) max = std::max<int64_t>(max, edges.first[at(i + 1)] - edges.first[at(i)]);
  return max;
}

template <typename Real>
int64_t heads_of(const GraphPass<Real>& work) {
  return work.score.receiver != nullptr ? work.score.heads : work.values.heads;
}

template <typename Real>
void run_forward(const Edges& edges, const GraphPass<Real>& work, const ParallelFor& parallel_for) {
  parallel_for(edges.tasks(), [&](int64_t t) {
    const int64_t from = edges.cuts[at(t)], to = edges.cuts[at(t + 1)];
    const auto buffer = buffer_for<Real>(scratch_size(heads_of(work), largest_run(edges, from, to)));
    kernels<Real>().forward(work, from, to, buffer.get());
  });
}

/// Backward at receivers, then at senders. grad_scores: initial value of grad_edge; null: it is computed.
template <typename Real>
void run_backward(const Edges& edges, const GraphPass<Real>& work, const Real* grad_scores,
                  const ParallelFor& parallel_for) {
  const int64_t H = heads_of(work), tasks = edges.tasks();
  // Gradients of a [H, D]: one partial sum per task, added in order.
  const int64_t size = work.grads.to_scores == nullptr ? 0 : H * work.score.width;
  std::vector<Real> sums(at(size * tasks), Real{0});
  if (work.grad_edge != nullptr)
    parallel_for(tasks, [&](int64_t t) {
      const int64_t from = edges.cuts[at(t)], to = edges.cuts[at(t + 1)];
      const int64_t first = int64_t{edges.first[at(from)]} * H, last = int64_t{edges.first[at(to)]} * H;
      if (grad_scores != nullptr) std::copy(grad_scores + first, grad_scores + last, work.grad_edge + first);
      kernels<Real>().receive(work, from, to, size == 0 ? nullptr : sums.data() + t * size);
    });
  if (size > 0) std::fill(work.grads.to_scores, work.grads.to_scores + size, Real{0});
  for (int64_t k = 0; k < size * tasks; ++k) work.grads.to_scores[k % size] += sums[at(k)];
  if (work.grad_values == nullptr && work.grads.sender == nullptr) return;
  parallel_for(edges.tasks_out(), [&](int64_t t) {
    const auto buffer = buffer_for<Real>(scratch_size(H, 0));
    kernels<Real>().send(work, edges.cuts_out[at(t)], edges.cuts_out[at(t + 1)], buffer.get());
  });
}

}  // namespace

template <typename Real>
void score(const Edges& edges, const Score<Real>& s, Real* scores, const ParallelFor& parallel_for) {
  auto work = work_on(edges, s, {});
  work.fresh = scores;
  run_forward(edges, work, parallel_for);
}

template <typename Real>
void score_backward(const Edges& edges, const Score<Real>& s, const Real* grad_scores,
                    const ScoreGradients<Real>& grads, const ParallelFor& parallel_for) {
  const auto grad_edge = buffer_for<Real>(edges.size() * s.heads);
  auto work = work_on(edges, s, {});
  work.grad_edge = grad_edge.get();
  work.grads = grads;
  run_backward(edges, work, grad_scores, parallel_for);
}

template <typename Real>
void sum(const Edges& edges, const Real* weights, const Values<Real>& v, Real* context,
         const ParallelFor& parallel_for) {
  auto work = work_on(edges, {}, v);
  work.weights = weights;
  work.context = context;
  run_forward(edges, work, parallel_for);
}

template <typename Real>
void sum_backward(const Edges& edges, const Real* weights, const Values<Real>& v, const Real* grad_context,
                  Real* grad_weights, Real* grad_values, const ParallelFor& parallel_for) {
  auto work = work_on(edges, {}, v);
  work.weights = weights;
  work.grad_context = grad_context;
  work.grad_edge = grad_weights;
  work.grad_values = grad_values;
  run_backward<Real>(edges, work, nullptr, parallel_for);
}

template <typename Real>
void attend(const Edges& edges, const Score<Real>& s, const Values<Real>& v, const Real* factor, Real* weights,
            Real* context, const ParallelFor& parallel_for) {
  auto work = work_on(edges, s, v);
  work.soft = true;
  work.factor = factor;
  work.fresh = weights;
  work.context = context;
  run_forward(edges, work, parallel_for);
}

template <typename Real>
void attend_backward(const Edges& edges, const Score<Real>& s, const Values<Real>& v, const Real* factor,
                     const Real* weights, const Real* grad_context, const Real* grad_weights,
                     const ScoreGradients<Real>& grads, Real* grad_values, const ParallelFor& parallel_for) {
  const auto grad_edge = buffer_for<Real>(edges.size() * s.heads);
  auto work = work_on(edges, s, v);
  work.soft = true;
  work.factor = factor;
  work.weights = weights;
  work.grad_context = grad_context;
  work.grad_weights = grad_weights;
  work.grad_edge = grad_edge.get();
  work.grads = grads;
  work.grad_values = grad_values;
  run_backward<Real>(edges, work, nullptr, parallel_for);
}

#define HEED_GRAPH(Real)                                                                                         \
  template void score(const Edges&, const Score<Real>&, Real*, const ParallelFor&);                              \
  template void score_backward(const Edges&, const Score<Real>&, const Real*, const ScoreGradients<Real>&,       \
                               const ParallelFor&);                                                              \
  template void sum(const Edges&, const Real*, const Values<Real>&, Real*, const ParallelFor&);                  \
  template void sum_backward(const Edges&, const Real*, const Values<Real>&, const Real*, Real*, Real*,          \
                             const ParallelFor&);                                                                \
  template void attend(const Edges&, const Score<Real>&, const Values<Real>&, const Real*, Real*, Real*,         \
                       const ParallelFor&);                                                                      \
  template void attend_backward(const Edges&, const Score<Real>&, const Values<Real>&, const Real*, const Real*, \
                                const Real*, const Real*, const ScoreGradients<Real>&, Real*, const ParallelFor&);
HEED_GRAPH(float)
HEED_GRAPH(double)
#undef HEED_GRAPH

}  // namespace heed::kernels::cpu::graph
