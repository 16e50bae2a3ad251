// What a caller hands over: plain pointers, sizes and strides. Nothing here knows an instruction set.
//
//   e_ij = score(q_i, k_j)  ->  a_i. = align(e_i.)  ->  c_i = sum_j a_ij v_j
//
// Query and keys are prepared: whatever a score does to each of them alone (projections, unit length) is done.
// Features stand side by side; batch rows, heads and rows are strides, counted in numbers.

#pragma once

#include <cstdint>

/// Never a function of its own: what is compiled for one instruction set must not be linked by others.
#define HEED_INLINE __attribute__((always_inline)) inline

namespace heed::kernels::fused {

/// The part of a score that looks at a query and a key together.
enum class ScoreKind {
  dot,               // q . k
  additive,          // w . tanh(q + k)
  hidden,            // w . act(q + k)
  squared_distance,  // -|q - k|^2
  distance,          // -|q - k|
  table,             // q_j: the query brings a score for each position, the key is not looked at
};

enum class Activation { identity, tanh, relu, sigmoid, elu, gelu, silu };

enum class AlignKind { softmax, threshold, top_k, hard, straight_through, sparsemax, entmax, sigmoid, identity };

/// Where the Gaussian of local_p stands, g = exp(-(j - p)^2 / (2 sigma^2)).
enum class Gauss { none, weights, add, multiply };  // a g;  e + log g;  e g

template <typename T>
struct Rows {  // [batch][head][row][feature]
  T* data = nullptr;
  int64_t batch = 0, head = 0, row = 0;
  HEED_INLINE T* at(int64_t b, int64_t h, int64_t i = 0) const { return data + b * batch + h * head + i * row; }
  HEED_INLINE explicit operator bool() const { return data != nullptr; }
};

template <typename T>
struct Grid {  // [batch][head][query][key]; a stride of 0 stands for every index
  T* data = nullptr;
  int64_t batch = 0, head = 0, query = 0, key = 0;
  HEED_INLINE T* at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return data + b * batch + h * head + i * query + j * key;
  }
  HEED_INLINE explicit operator bool() const { return data != nullptr; }
};

/// What an alignment remembers of a row: from it and the scores, weights can be computed again.
///   softmax and its kin: best score, or a bound, times log2(e); sum 2^(e log2(e) - top); threshold, top_k: also what
///   stays
///   sparsemax, entmax: best score and tau;  hard: the chosen key
template <typename Real>
struct RowStats {
  Real max = 0, sum = 0;  // sum 0: the row attends nothing
  Real threshold = 0;     // sparsemax, entmax: tau, counted from (alpha - 1) top; top_k: the smallest score that stays
  Real kept_share = 1;    // threshold, top_k with renorm: the share of the sum that stays
  int32_t key = -1;       // hard, straight_through: the chosen one; threshold with keep_best: the best; top_k: the last
                          // of equals that stays
};

/// Which key each query may attend; all compose. The position of query i is i + first_position.
struct Keep {
  Grid<const uint8_t> keep;
  const int64_t* key_count = nullptr;  // [batch]
  int64_t first_position = 0;
  bool causal = false;              // key <= position
  int64_t left = -1, right = -1;    // window around the position; -1: no limit
  const int64_t* center = nullptr;  // [batch][heads][queries]: keys within `reach` of it
  int64_t reach = 0;
  HEED_INLINE bool any() const { return keep || key_count || causal || left >= 0 || right >= 0 || center; }
};

/// Added to the scores.
template <typename Real>
struct Biases {
  Grid<const Real> full, per_key;  // per_key: the query stride is 0
  const Real* relative =
      nullptr;  // [heads or 1][2 relative_reach + 1], read at clip(j - position, -reach, reach) + reach
  int64_t relative_reach = 0, relative_head = 0;
  const Real* alibi = nullptr;  // [heads]: minus slope |j - position|
  HEED_INLINE bool any() const { return full || per_key || relative || alibi; }
};

template <typename Real>
struct Problem {
  int64_t batch = 1, heads = 1, key_heads = 1;  // head h reads key head h / (heads / key_heads)
  int64_t queries = 0, keys = 0;
  int64_t width = 0;  // features of query and keys; table: positions in the query
  int64_t value_width = 0;

  ScoreKind score = ScoreKind::dot;
  Activation activation = Activation::identity;  // dot: applied to the product; hidden: inside
  Rows<const Real> query, key_rows, values;      // table: key_rows is not read
  Rows<const Real> exp_keys;                     // additive: exp(2 keys), where a memory has it
  const Real* to_scores = nullptr;               // additive, hidden: w
  int64_t to_scores_head = 0;                    // from one head's w to the next; 0: the same
  Real scale = 1;                                // multiplies the scores
  Real soft_cap = 0;                             // c > 0: e <- c tanh(e / c), before the biases

  Keep mask;
  Biases<Real> bias;

  AlignKind align = AlignKind::softmax;
  Gauss gauss = Gauss::none;
  const Real* position = nullptr;  // gauss: p, [batch][heads][queries]
  Real sigma = 1;
  Real theta = 0, alpha = 2;  // threshold; entmax
  int64_t k = 0;              // top_k
  bool renorm = false, keep_best = false;
  int64_t candidates = 4096;  // sparsemax, entmax: keys kept aside for a row before passes are repeated

  bool perturb = false;  // add Gumbel noise to the scores
  Real temperature = 1;  // divides them then
  Real dropout = 0;      // rate, on the weights that enter the context
  uint64_t seed = 0, stream = 0;
  int64_t first_row = 0, first_query = 0;  // of the whole, for the noise

  // Results, contiguous.
  Real* context = nullptr;         // [batch][heads][queries][value_width]
  Real* second = nullptr;          // the same; sparsemax, entmax, straight_through keep it for backward; may be absent
  RowStats<Real>* rows = nullptr;  // [batch][heads][queries]
  bool with_lse = true;  // hard: rows hold the normalizer of softmax, whose entropy and log-weights are then reported

  HEED_INLINE int64_t group() const { return heads / key_heads; }
  HEED_INLINE int64_t row_index(int64_t b, int64_t h, int64_t i) const { return (b * heads + h) * queries + i; }
};

/// What to bring besides the context, after forward(); null: not wanted. All contiguous.
template <typename Real>
struct RequestedOutputs {
  Real* weights = nullptr;  // [batch][chosen heads][chosen queries][keys]
  const int64_t *some_queries = nullptr, *some_heads = nullptr;
  int64_t query_count = 0, head_count = 0;  // 0: all
  Real *lse = nullptr, *entropy = nullptr;  // [batch][heads][queries]
  Real* log_probability = nullptr;          // hard: log of the softmax weight of the chosen key
  Real* column_mass = nullptr;              // [batch][heads][keys]
  int64_t top = 0;
  Real* top_weights = nullptr;     // [batch][heads][queries][top], largest first; 0 where there is none
  int64_t* top_keys = nullptr;     // -1 where there is none
  const int64_t* links = nullptr;  // [link_count][4]: batch row, head, query, key
  int64_t link_count = 0;
  Real* link_log_weights = nullptr;  // [link_count]
};

/// Gradients of a number L. The first three are given (or null: no gradient), the others are wanted (or null). All
/// contiguous, and as many as the problem has: those of keys and values for key heads.
template <typename Real>
struct Gradients {
  const Real* context = nullptr;
  const Real *lse = nullptr, *log_probability = nullptr;

  Real *query = nullptr, *keys = nullptr, *values = nullptr;
  Real* to_scores = nullptr;  // [heads][width], also where all heads share one
  Real* position = nullptr;   // [batch][heads][queries]
  Grid<Real> full, per_key;   // strides as the problem's; where one is 0, gradients add up
  Real* relative = nullptr;   // as the problem's
  Real* alibi = nullptr;
};

}  // namespace heed::kernels::fused
