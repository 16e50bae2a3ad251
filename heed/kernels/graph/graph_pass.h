// What graph.cpp hands to the kernels of an instruction set: plain pointers, and a range of nodes for each task.

#pragma once

#include "heed/kernels/graph/graph.h"

namespace heed::kernels::graph {

/// Edges of consecutive nodes and the nodes at their other ends.
struct Ends {
  const int32_t* first = nullptr;     // [N + 1]
  const int32_t* other = nullptr;     // [E]
  const int32_t* position = nullptr;  // [E]: of the edge in the order by receiver; null: this is that order
  int64_t edges = 0;
};

/// Null pointers leave a step out.
template <typename Real>
struct GraphPass {
  Ends in, out;
  Score<Real> score;  // receiver null: scores are not computed here
  bool soft = false;  // softmax stands between scores and sum
  Values<Real> values;
  const Real* factor = nullptr;

  // forward: scores -> softmax -> sum
  Real* fresh = nullptr;          // [E, H]: scores or weights are left here; null: not stored
  const Real* weights = nullptr;  // [E, H]: where no scores are computed, and in backward
  Real* context = nullptr;

  // backward
  const Real *grad_context = nullptr, *grad_weights = nullptr;
  Real* grad_edge = nullptr;   // [E, H]: by the weights, then by the scores, then by what is below LeakyReLU (GAT)
  ScoreGradients<Real> grads;  // to_scores is not written: each task has a sum of its own
  Real* grad_values = nullptr;
};

inline constexpr int64_t kBlock = 32;  // edges whose rows are at hand together

/// Size of the scratch buffer of a task: in forward, at most `max` edges lead into one node at most.
inline int64_t scratch_size(int64_t heads, int64_t max) {
  return heads * 2 * (max > kBlock ? max : kBlock);
}

/// Each for nodes from ... to - 1.
template <typename Real>
struct Kernels {
  const char* name;
  void (*forward)(const GraphPass<Real>&, int64_t from, int64_t to, Real* buffer);
  void (*receive)(const GraphPass<Real>&, int64_t from, int64_t to, Real* to_scores);
  void (*send)(const GraphPass<Real>&, int64_t from, int64_t to, Real* buffer);
};

const Kernels<float>& portable_kernels();
const Kernels<double>& double_kernels();
const Kernels<float>& avx2_kernels();

}  // namespace heed::kernels::graph
