// Multi-dimensional attention on the CPU: one score for each channel of the values, quadratic and exact.
//
//   matrix form:        e_ijc = sum_f Wd_cf act(q_if + k_jf)                     Shen et al., 2018 (DiSAN), eq. 7
//   elementwise form:   e_ijc = 5 act((q_ic + k_jc) / 5)                         the same, token to token
//   both:               a_i.c = softmax_j(bias + cap(scale e_ijc)),   context_ic = sum_j a_ijc v_jc
//
// Query and keys are already projected, and one of them contains the bias of the hidden layer. Nothing of size
// queries x keys is stored. Results have the same bits on any number of threads.

#pragma once

#include "heed/base/parallel.h"
#include "heed/kernels/problem.h"

namespace heed::kernels::cpu {

/// The inputs of a call and pointers to its results.
template <typename Real>
struct MultiProblem {
  int64_t batch = 1, heads = 1, key_heads = 1;  // head h reads key head h / (heads / key_heads)
  int64_t queries = 0, keys = 0;
  int64_t width = 0;     // Dh, features of query and keys; elementwise form: equals channels
  int64_t channels = 0;  // W, channels of the values

  Activation activation = Activation::tanh;
  Rows<const Real> query, key_rows, values;
  const Real* to_scores = nullptr;  // Wd, [channels][width]; null: the elementwise form
  int64_t to_scores_head = 0;       // stride from one head's Wd to the next; 0: all heads share one
  Real scale = 1;                   // multiplies the scores
  Real soft_cap = 0;                // c > 0: e <- c tanh(e / c), before the biases

  Keep mask;
  Biases<Real> bias;  // the same for all channels of a pair

  Real dropout = 0;                        // rate, on the weights that enter the context
  uint64_t seed = 0, stream = 0;           // of the dropout noise (base/philox.h)
  int64_t first_row = 0, first_query = 0;  // indices of batch element 0 and query 0 in the global batch, for the noise

  // Results, contiguous, [batch][heads][queries][channels].
  Real* context = nullptr;
  Real *top = nullptr, *sum = nullptr;  // for backward: a = 2^(e log2(e) - top) / sum; sum 0: nothing is attended
  Real* lse = nullptr;                  // optional: log sum exp of the scores

  HEED_INLINE int64_t group() const { return heads / key_heads; }
  HEED_INLINE int64_t row_index(int64_t b, int64_t h, int64_t i) const { return (b * heads + h) * queries + i; }
};

/// Gradients of a scalar loss L. The first two are inputs (lse may be null: no gradient); the others are outputs (null:
/// not requested) and are overwritten. All are contiguous; those of keys and values are per key head.
template <typename Real>
struct MultiGradients {
  const Real *context = nullptr, *lse = nullptr;

  Real *query = nullptr, *keys = nullptr, *values = nullptr;
  Real* to_scores = nullptr;  // [heads][channels][width], even if all heads share one Wd
  Grid<Real> full, per_key;   // strides as in the problem; along an axis of stride 0, gradients are summed
  Real* relative = nullptr;   // shape as in the problem
  Real* alibi = nullptr;
};

/// Writes context, top, sum and lse of the problem. Throws heed::Error if its sizes are inconsistent.
template <typename Real>
void multi_forward(const MultiProblem<Real>& problem, const ParallelFor& parallel_for = in_order);
/// Writes the requested gradients. Call it after multi_forward() on the same problem.
template <typename Real>
void multi_backward(const MultiProblem<Real>& problem, const MultiGradients<Real>& gradients,
                    const ParallelFor& parallel_for = in_order);

extern template void multi_forward(const MultiProblem<float>&, const ParallelFor&);
extern template void multi_forward(const MultiProblem<double>&, const ParallelFor&);
extern template void multi_backward(const MultiProblem<float>&, const MultiGradients<float>&, const ParallelFor&);
extern template void multi_backward(const MultiProblem<double>&, const MultiGradients<double>&, const ParallelFor&);

}  // namespace heed::kernels::cpu
