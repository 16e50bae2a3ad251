// The arguments that attend.cpp passes to the kernels of an instruction set: plain pointers and ranges of nodes.

#pragma once

#include "heed/kernels/cpu/graph/attend.h"

namespace heed::kernels::cpu::graph {

/// Edges of consecutive nodes and the nodes at their other ends.
struct Ends {
  const int32_t* first = nullptr;     // [N + 1]
  const int32_t* other = nullptr;     // [E]
  const int32_t* position = nullptr;  // [E]: of the edge in the order by receiver; null: this is that order
  int64_t edges = 0;
};

/// A null pointer means that its step is skipped.
template <typename Real>
struct GraphPass {
  Ends in, out;
  Score<Real> score;  // receiver null: scores are not computed here
  bool soft = false;  // softmax is applied to the scores
  Values<Real> values;
  const Real* factor = nullptr;

  // forward: scores -> softmax -> sum
  Real* fresh = nullptr;          // [E, H]: output, scores or (soft) weights; null: not stored
  const Real* weights = nullptr;  // [E, H]: input, if scores are not computed, and in backward
  Real* context = nullptr;

  // backward
  const Real *grad_context = nullptr, *grad_weights = nullptr;
  Real* grad_edge = nullptr;   // [E, H]: gradient of the weights, then of the scores, then (GAT) of LeakyReLU's input
  ScoreGradients<Real> grads;  // to_scores is not written here: each task has a partial sum
  Real* grad_values = nullptr;
};

inline constexpr int64_t kBlock = 32;  // edges processed together; their features fit the L1 cache

/// Size of the scratch buffer of a task. max: in forward, the largest number of edges into one node; else 0.
inline int64_t scratch_size(int64_t heads, int64_t max) {
  return heads * 2 * (max > kBlock ? max : kBlock);
}

/// The kernels of an instruction set; each processes nodes from ... to - 1.
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

}  // namespace heed::kernels::cpu::graph
