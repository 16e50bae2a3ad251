// The inputs and outputs of the fused kernels: plain pointers, sizes and strides, the same for every device and
// instruction set.
//
//   e_ij = score(q_i, k_j)  ->  a_i. = align(e_i.)  ->  c_i = sum_j a_ij v_j
//
// Query and keys are prepared: whatever a score does to each of them alone (projections, unit length) is done.
// Features are contiguous; batch elements, heads and rows have strides, counted in elements of the array.

#pragma once

#include <cstdint>

#include "heed/kernels/kinds.h"

/// Always inlined: a function compiled for one instruction set must not be linked into code for another.
#ifdef __CUDACC__
#define HEED_INLINE __host__ __device__ __forceinline__
#else
#define HEED_INLINE __attribute__((always_inline)) inline
#endif

namespace heed::kernels {

template <typename T>
struct Rows {  // [batch][head][row][feature]
  T* data = nullptr;
  int64_t batch = 0, head = 0, row = 0;
  HEED_INLINE T* at(int64_t b, int64_t h, int64_t i = 0) const { return data + b * batch + h * head + i * row; }
  HEED_INLINE explicit operator bool() const { return data != nullptr; }
};

template <typename T>
struct Grid {  // [batch][head][query][key]; an axis with stride 0 is broadcast
  T* data = nullptr;
  int64_t batch = 0, head = 0, query = 0, key = 0;
  HEED_INLINE T* at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return data + b * batch + h * head + i * query + j * key;
  }
  HEED_INLINE explicit operator bool() const { return data != nullptr; }
};

/// What forward() stores per query (a row of scores): enough to recompute its weights from the scores.
/// - softmax and variants: the largest score, or a bound of it, as max = e log2(e); sum_j 2^(e_j log2(e) - max) as sum
/// - threshold, top_k: as softmax, and which weights are kept
/// - sparsemax, entmax: largest score and tau
/// - hard: the chosen key
/// - uniform: the number of keys, as sum
template <typename Real>
struct RowStats {
  Real max = 0, sum = 0;  // sum 0: the query attends nothing
  Real threshold = 0;     // sparsemax, entmax: tau, relative to (alpha - 1) max; top_k: the smallest score kept
  Real kept_share = 1;    // threshold, top_k with renorm: the share of the sum that is kept; sparsemax, entmax: the
                          // sum of a^(2 - alpha), if `second` is computed
  int32_t key = -1;       // hard, straight_through: the chosen key; threshold with keep_best: the best key; top_k: the
                          // last kept key whose score equals the threshold
};

/// Which keys each query may attend: those that satisfy every condition. The position of query i is i + first_position.
struct Keep {
  Grid<const uint8_t> keep;            // not 0: may be attended
  const int64_t* key_count = nullptr;  // [batch]
  int64_t first_position = 0;
  bool causal = false;              // key <= position
  int64_t left = -1, right = -1;    // window around the position; -1: no limit
  const int64_t* center = nullptr;  // [batch][heads][queries]: only keys within `reach` of it; null: no limit
  int64_t reach = 0;
  HEED_INLINE bool any() const { return keep || key_count || causal || left >= 0 || right >= 0 || center; }
};

/// Added to the scores.
template <typename Real>
struct Biases {
  Grid<const Real> full, per_key;  // per_key: the query stride is 0
  // [heads or 1][2 relative_reach + 1], read at clip(j - position, -relative_reach, relative_reach) + relative_reach
  const Real* relative = nullptr;
  int64_t relative_reach = 0, relative_head = 0;  // relative_head: stride from one head to the next; 0: shared
  const Real* alibi = nullptr;                    // [heads]: minus slope |j - position|
  HEED_INLINE bool any() const { return full || per_key || relative || alibi; }
};

/// The inputs of a call and pointers to its results.
template <typename Real>
struct Problem {
  int64_t batch = 1, heads = 1, key_heads = 1;  // head h reads key head h / (heads / key_heads)
  int64_t queries = 0, keys = 0;
  int64_t width = 0;        // features of query and keys; table: scores that each query holds
  int64_t value_width = 0;  // features of the values and the context

  ScoreKind score = ScoreKind::dot;
  Activation activation = Activation::identity;  // dot: applied to the product; hidden: to q + k
  Rows<const Real> query, key_rows, values;      // table: key_rows is not read
  Rows<const Real> exp_keys;                     // additive, optional: exp(2 keys), if a memory has precomputed it
  const Real* to_scores = nullptr;               // additive, hidden: w
  int64_t to_scores_head = 0;                    // stride from one head's w to the next; 0: all heads share one
  Real scale = 1;                                // multiplies the scores
  Real soft_cap = 0;                             // c > 0: e <- c tanh(e / c), before the biases

  Keep mask;
  Biases<Real> bias;

  AlignKind align = AlignKind::softmax;
  Gauss gauss = Gauss::none;
  const Real* position = nullptr;  // gauss: p, [batch][heads][queries]
  Real sigma = 1;
  Real theta = 0, alpha = 2;               // threshold: smallest weight kept; entmax: alpha in (1, 2]
  const Real* alphas = nullptr;            // entmax: one alpha per head, in place of `alpha`
  int64_t alphas_head = 0;                 // stride from one head's alpha to the next; 0: all heads share one
  int64_t k = 0;                           // top_k: at least 1
  bool renorm = false, keep_best = false;  // threshold, top_k: kept weights sum to 1; threshold: always keep the best
  int64_t candidates = 4096;  // sparsemax, entmax: buffered keys per query; beyond it, more passes are made

  bool perturb = false;                    // add Gumbel noise to the scores
  Real temperature = 1;                    // divides the scores after the noise
  Real dropout = 0;                        // rate, on the weights that enter the context
  uint64_t seed = 0, stream = 0;           // of Gumbel and dropout noise (base/philox.h)
  const uint64_t* seed_at = nullptr;       // kernels on a GPU: the seed is here, in its memory; null: it is `seed`
  int64_t first_row = 0, first_query = 0;  // indices of batch element 0 and query 0 in the global batch, for the noise

  // Results, contiguous.
  Real* context = nullptr;         // [batch][heads][queries][value_width]
  Real* second = nullptr;          // same shape; optional, unless backward() follows and needs it (traits.h)
  RowStats<Real>* rows = nullptr;  // [batch][heads][queries]
  bool with_lse = true;            // hard: also compute the softmax normalizer; entropy and log-weights need it

  HEED_INLINE int64_t group() const { return heads / key_heads; }
  HEED_INLINE int64_t row_index(int64_t b, int64_t h, int64_t i) const { return (b * heads + h) * queries + i; }
};

/// Outputs requested in addition to the context, written by report(); null: not requested. All are contiguous.
template <typename Real>
struct RequestedOutputs {
  Real* weights = nullptr;                                       // [batch][selected heads][selected queries][keys]
  const int64_t *some_queries = nullptr, *some_heads = nullptr;  // indices selected for `weights`
  int64_t query_count = 0, head_count = 0;                       // how many; 0: all
  Real *lse = nullptr, *entropy = nullptr;                       // [batch][heads][queries]
  Real* log_probability = nullptr;  // [batch][heads][queries]; hard: log of the softmax weight of the chosen key
  Real* column_mass = nullptr;      // [batch][heads][keys]: sum of the weights over the queries
  int64_t top = 0;                  // how many of the largest weights; 0: none
  Real* top_weights = nullptr;      // [batch][heads][queries][top], largest first; 0 if there are fewer
  int64_t* top_keys = nullptr;      // same shape; -1 if there are fewer
  const int64_t* links = nullptr;   // [link_count][4]: batch element, head, query, key
  int64_t link_count = 0;
  Real* link_log_weights = nullptr;  // [link_count]
};

/// Gradients of a scalar loss L: with respect to what forward() and report() return as inputs (null: no gradient), with
/// respect to the inputs of the call as outputs (null: not requested). All are contiguous, with the sizes of the
/// problem; those of keys and values are per key head.
template <typename Real>
struct Gradients {
  const Real* context = nullptr;
  const Real *lse = nullptr, *log_probability = nullptr;
  // As in RequestedOutputs; a query, a head or a link may be there twice. Where the weight is 0 (masked, not kept),
  // that of a log-weight is not read. hard: needs Problem::with_lse; its weights are constant.
  const Real* weights = nullptr;
  const int64_t *some_queries = nullptr, *some_heads = nullptr;
  int64_t query_count = 0, head_count = 0;
  const Real* entropy = nullptr;
  const Real* reported_entropy = nullptr;  // the value of report(); null: with `entropy`, one more pass computes it
  const Real* column_mass = nullptr;
  int64_t top = 0;
  const Real* top_weights = nullptr;
  const int64_t* top_keys = nullptr;  // those of report()
  const int64_t* links = nullptr;
  int64_t link_count = 0;
  const Real* link_log_weights = nullptr;

  Real *query = nullptr, *keys = nullptr, *values = nullptr;
  Real* to_scores = nullptr;  // [heads][width], even if all heads share one w
  Real* position = nullptr;   // [batch][heads][queries]
  Real* alpha = nullptr;      // [heads], even if all heads share one alpha
  Grid<Real> full, per_key;   // strides as in the problem; added to (the caller clears them), summed over stride 0
  Real* relative = nullptr;   // shape as in the problem
  Real* alibi = nullptr;
};

}  // namespace heed::kernels
