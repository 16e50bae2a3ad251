// Multi-dimensional attention on the CPU: one score for each channel of the values, quadratic and exact.
//
//   matrix form:        e_ijc = sum_f Wd_cf act(q_if + k_jf)                     Shen et al., 2018 (DiSAN), eq. 7
//   elementwise form:   e_ijc = 5 act((q_ic + k_jc) / 5)                         the same, token to token
//   both:               a_i.c = softmax_j(bias + cap(scale e_ijc)),   context_ic = sum_j a_ijc v_jc
//
// Query and keys are prepared: projected, the bias of the hidden layer in one of them. Nothing of size queries x keys
// is kept. Results have the same bits on any number of threads.

#pragma once

#include "heed/base/parallel.h"
#include "heed/kernels/fused/problem.h"

namespace heed::kernels::fused {

template <typename Real>
struct MultiProblem {
  int64_t batch = 1, heads = 1, key_heads = 1;  // head h reads key head h / (heads / key_heads)
  int64_t queries = 0, keys = 0;
  int64_t width = 0;     // Dh, features of query and keys; elementwise: as many as channels
  int64_t channels = 0;  // W, of the values

  Activation activation = Activation::tanh;
  Rows<const Real> query, key_rows, values;
  const Real* to_scores = nullptr;  // Wd, [channels][width]; null: the elementwise form
  int64_t to_scores_head = 0;       // from one head's Wd to the next; 0: the same
  Real scale = 1;                   // multiplies the scores
  Real soft_cap = 0;                // c > 0: e <- c tanh(e / c), before the biases

  Keep mask;
  Biases<Real> bias;  // the same for all channels of a pair

  Real dropout = 0;  // rate, on the weights that enter the context
  uint64_t seed = 0, stream = 0;
  int64_t first_row = 0, first_query = 0;  // of the whole, for the noise

  // Results, contiguous, [batch][heads][queries][channels].
  Real* context = nullptr;
  Real *top = nullptr, *sum = nullptr;  // for backward: a = 2^(e log2(e) - top) / sum; sum 0: nothing is attended
  Real* lse = nullptr;                  // may be absent

  HEED_INLINE int64_t group() const { return heads / key_heads; }
  HEED_INLINE int64_t row_index(int64_t b, int64_t h, int64_t i) const { return (b * heads + h) * queries + i; }
};

/// Gradients of a number L. The first two are given (lse may be null: no gradient), the others are wanted (or null).
/// All contiguous, those of keys and values for key heads. What was in them is gone.
template <typename Real>
struct MultiGradients {
  const Real *context = nullptr, *lse = nullptr;

  Real *query = nullptr, *keys = nullptr, *values = nullptr;
  Real* to_scores = nullptr;  // [heads][channels][width], also where all heads share one
  Grid<Real> full, per_key;   // strides as the problem's; where one is 0, gradients add up
  Real* relative = nullptr;   // as the problem's
  Real* alibi = nullptr;
};

template <typename Real>
void multi_forward(const MultiProblem<Real>& problem, const ParallelFor& parallel_for = in_order);
/// After multi_forward() on the same problem.
template <typename Real>
void multi_backward(const MultiProblem<Real>& problem, const MultiGradients<Real>& gradients,
                    const ParallelFor& parallel_for = in_order);

extern template void multi_forward(const MultiProblem<float>&, const ParallelFor&);
extern template void multi_forward(const MultiProblem<double>&, const ParallelFor&);
extern template void multi_backward(const MultiProblem<float>&, const MultiGradients<float>&, const ParallelFor&);
extern template void multi_backward(const MultiProblem<double>&, const MultiGradients<double>&, const ParallelFor&);

}  // namespace heed::kernels::fused
