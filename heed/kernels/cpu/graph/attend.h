// Graph attention over sorted edges: GAT (Velickovic et al., 2018) and GATv2 (Brody et al., 2022).
//
//   e_ij = LeakyReLU(s_i + t_j)                        GAT:   s, t [N, H]
//   e_ij = sum_d a_d LeakyReLU(l_id + r_jd)            GATv2: l, r [N, H, D], a [H, D]
//   a_i. = softmax of e over the edges into i          c_i = sum_j a_ij v_j
//
// per head. N nodes, E edges, H heads, D features. Time is O(E H D), memory in addition to inputs and outputs O(E H):
// no array holds features per edge. An edge reads the features of its sender; those of the receiver stay in cache. A
// node without incoming edges has c = 0; features of nodes that no edge needs are not read.
//
// Arrays are dense and row-major. Arrays with one row per edge are sorted by receiver (edges.h). Each function runs on
// the instruction set of the kernels in cpu/attend.h and gives the same bits on any number of threads.

#pragma once

#include "heed/base/edges.h"
#include "heed/base/parallel.h"

namespace heed::kernels::cpu::graph {

/// How an edge j -> i is scored.
template <typename Real>
struct Score {
  const Real *receiver = nullptr, *sender = nullptr;  // s, t [N, H]; or l, r [N, H, width]
  const Real* to_scores = nullptr;                    // a [H, width]; null: GAT
  int64_t heads = 0, width = 1;                       // H; D of GATv2
  Real negative_slope = 0;                            // of LeakyReLU
};

/// Gradients with respect to the inputs of a score, in the same shapes; null: not requested.
template <typename Real>
struct ScoreGradients {
  Real *receiver = nullptr, *sender = nullptr, *to_scores = nullptr;
};

template <typename Real>
struct Values {
  const Real* rows = nullptr;    // [N, H, width]
  int64_t heads = 0, width = 0;  // H, D
};

// ---- separate steps, for any alignment between scores and weights

/// Writes scores [E, H].
template <typename Real>
void score(const Edges& edges, const Score<Real>& score, Real* scores, const ParallelFor& parallel_for = in_order);
/// From grad_scores [E, H], writes the gradients with respect to the inputs of the score.
template <typename Real>
void score_backward(const Edges& edges, const Score<Real>& score, const Real* grad_scores,
                    const ScoreGradients<Real>& grads, const ParallelFor& parallel_for = in_order);

/// context_i = sum of weight x value over the edges into i: weights [E, H] -> [N, H, width].
template <typename Real>
void sum(const Edges& edges, const Real* weights, const Values<Real>& values, Real* context,
         const ParallelFor& parallel_for = in_order);
/// From grad_context [N, H, width], writes grad_weights [E, H] and grad_values [N, H, width]; null: not requested.
template <typename Real>
void sum_backward(const Edges& edges, const Real* weights, const Values<Real>& values, const Real* grad_context,
                  Real* grad_weights, Real* grad_values, const ParallelFor& parallel_for = in_order);

// ---- fused, for softmax

/// Writes context [N, H, width] and weights [E, H] (null: not stored). factor [E, H] multiplies the weights that enter
/// the context (dropout); null: 1.
template <typename Real>
void attend(const Edges& edges, const Score<Real>& score, const Values<Real>& values, const Real* factor, Real* weights,
            Real* context, const ParallelFor& parallel_for = in_order);

/// Needs the weights that attend() stored. grad_weights [E, H]: upstream gradient of the weights themselves; null: 0.
template <typename Real>
void attend_backward(const Edges& edges, const Score<Real>& score, const Values<Real>& values, const Real* factor,
                     const Real* weights, const Real* grad_context, const Real* grad_weights,
                     const ScoreGradients<Real>& grads, Real* grad_values, const ParallelFor& parallel_for = in_order);

}  // namespace heed::kernels::cpu::graph
