// The definition of every mechanism: plain loops that read like the formulas, without torch and without optimizations.
//
//   e_ij = score(q_i, k_j)  ->  a_i. = align(e_i.)  ->  c_i = sum_j a_ij v_j
//
// Every faster path must agree with this one. Real is double, or std::complex<double>: the imaginary part of a complex
// evaluation at x + i h d, divided by h = 1e-30, is the derivative along d, exact to rounding. Comparisons (which key
// is best, which is kept) use real parts; their outcome counts as constant.

#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/spec.h"

namespace heed::kernels::reference {

/// A dense row-major array.
template <typename Real>
struct Array {
  std::vector<int64_t> shape;
  std::vector<Real> data;
  bool empty() const { return shape.empty(); }  // not given
};

/// Key j may be attended if j <= position of the query. bottom_right: the last query has the position of the last key.
enum class Causal { none, top_left, bottom_right };

/// The inputs of a call. B batch elements, H heads, Hk key heads, Lq queries, Lk keys, W scores per pair (1, or one per
/// channel of the values).
template <typename Real>
struct Problem {
  MechanismSpec mechanism;
  /// "score.from_query", "align.to_position", ...: shapes as in parameter_shapes(), or with a leading axis H, one per
  /// head.
  std::map<std::string, Array<Real>> parameters;

  Array<Real> query;         // [B, H, Lq, Dq]
  Array<Real> keys, values;  // [B, Hk, Lk, Dk], [B, Hk, Lk, Dv]; Hk divides H, head h reads h / (H / Hk)

  // Which keys each query may attend: those that satisfy every condition. An axis of size 1 is broadcast.
  Array<uint8_t> keep;       // [B|1, H|1, Lq|1, Lk|1], or empty
  Array<int64_t> key_count;  // [B], or empty
  Causal causal = Causal::none;
  int64_t left = -1, right = -1;  // window around the query's position; -1: no limit
  int64_t first_query = 0;        // the position of query i is i + first_query; bottom_right: i + Lk - Lq

  // Added to the scores; empty: none.
  Array<Real> bias;      // [B|1, H|1, Lq|1, Lk|1]
  Array<Real> per_key;   // [B|1, H|1, Lk]
  Array<Real> relative;  // [H|1, 2R + 1], read at clip(j - position(i), -R, R) + R
  Array<Real> alibi;     // [H]: minus slope |j - position(i)|
  double scale = 1;      // multiplies the scores
  double soft_cap = 0;   // c > 0: e <- c tanh(e / c), after scale, before the biases

  bool sample = false;            // stochastic alignments: draw a sample; else take the most probable choice
  double dropout = 0;             // rate, on the weights that enter the context, not on those reported
  uint64_t seed = 0, stream = 0;  // of the random numbers (base/philox.h); stream is below 2^30
  int64_t first_row = 0;          // index of batch element 0 in the global batch, for the random numbers
  Array<double> uniforms;         // [B, H, Lq, Lk, W] in (0, 1): replace Philox's for the alignment; empty: Philox
};

/// The outputs of a call.
template <typename Real>
struct Answer {
  Array<Real> context;          // [B, H, Lq, Dv]
  Array<Real> scores, weights;  // [B, H, Lq, Lk, W]; masked scores are 0 here
  Array<Real> lse, entropy;     // [B, H, Lq, W]; empty if the alignment has none
  Array<Real> log_probability;  // of the sample or choice: hard [B, H, Lq, W]; reinforced [B, H]; else empty
  Array<Real> selected;         // reinforced: 1 for a key that is in the subset, [B, H, Lk]; else empty
};

/// Empty if score, alignment and dimensionality are defined here, else the reason why not.
std::string missing(const MechanismSpec& spec);

/// The names of all scores and of all alignments that are defined here.
std::vector<std::string> score_names();
std::vector<std::string> align_names();

struct Widths {
  int64_t query_dim = 0, key_dim = 0, value_dim = 0, hidden_dim = 0;  // Dq, Dk, Dv, Dh
};
/// The parameters of a mechanism and their shapes, without the axis of heads: {"score.from_query", {Dh, Dq}}, ...
/// Throws heed::Error if the mechanism is not defined here.
std::map<std::string, std::vector<int64_t>> parameter_shapes(const MechanismSpec& spec, const Widths& widths);

/// Computes one call. Tasks are (batch element, head) pairs and share nothing, so the answer has the same bits on any
/// number of threads. Throws heed::Error if the mechanism is not defined here or shapes are inconsistent.
template <typename Real>
Answer<Real> attend(const Problem<Real>& problem, const ParallelFor& parallel_for = in_order);

extern template Answer<double> attend(const Problem<double>&, const ParallelFor&);
extern template Answer<std::complex<double>> attend(const Problem<std::complex<double>>&, const ParallelFor&);

}  // namespace heed::kernels::reference
