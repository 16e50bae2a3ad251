// The definition of every mechanism: plain loops, readable beside the formulas, no torch, no cleverness.
//
//   e_ij = score(q_i, k_j)  ->  a_i. = align(e_i.)  ->  c_i = sum_j a_ij v_j
//
// Every faster path is an optimization that must agree with this one. Real is double, or std::complex<double>: the
// imaginary part of a complex evaluation at x + i h d, over h = 1e-30, is the gradient along d, exact to rounding.
// Comparisons (which key is best, which survives) look at real parts; what they decide is constant.

#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/spec.h"

namespace heed::kernels::reference {

/// Row-major.
template <typename Real>
struct Array {
  std::vector<int64_t> shape;
  std::vector<Real> data;
  bool empty() const { return shape.empty(); }  // absent
};

enum class Causal { none, top_left, bottom_right };

template <typename Real>
struct Problem {
  MechanismSpec mechanism;
  /// "score.from_query", "align.to_position", ...: shapes as the parts declare them, or with a leading axis H, one per
  /// head.
  std::map<std::string, Array<Real>> parameters;

  Array<Real> query;         // [B, H, Lq, Dq]
  Array<Real> keys, values;  // [B, Hk, Lk, Dk], [B, Hk, Lk, Dv]; Hk divides H, head h reads h / (H / Hk)

  // Which key each query may attend; all compose. An axis of size 1 stands for every index.
  Array<uint8_t> keep;       // [B|1, H|1, Lq|1, Lk|1], or empty
  Array<int64_t> key_count;  // [B], or empty
  Causal causal = Causal::none;
  int64_t left = -1, right = -1;  // window around the query's position; -1: no limit
  int64_t first_query =
      0;  // position of query 0; the position of query i is i + first_query, bottom_right: i + Lk - Lq

  // Added to the scores; empty: nothing.
  Array<Real> bias;      // [B|1, H|1, Lq|1, Lk|1]
  Array<Real> per_key;   // [B|1, H|1, Lk]
  Array<Real> relative;  // [H|1, 2R + 1], read at clip(j - position(i), -R, R) + R
  Array<Real> alibi;     // [H]: minus slope |j - position(i)|
  double scale = 1;      // multiplies the scores
  double soft_cap = 0;   // c > 0: e <- c tanh(e / c), after scale, before the biases

  bool sample = false;  // draw; else decide
  double dropout = 0;   // on the weights that enter the context, not on those reported
  uint64_t seed = 0, stream = 0;
  int64_t first_row = 0;  // batch row 0 is this one of the global batch
  Array<double>
      uniforms;  // [B, H, Lq, Lk, W] in (0, 1), in place of Philox's for the alignment (purpose 0); empty: Philox
};

template <typename Real>
struct Answer {
  Array<Real> context;          // [B, H, Lq, Dv]
  Array<Real> scores, weights;  // [B, H, Lq, Lk, W]; a score that is not kept is 0 here
  Array<Real> lse, entropy;     // [B, H, Lq, W]; empty where the alignment has none
  Array<Real> log_probability;  // of what was drawn (or decided): hard [B, H, Lq, W]; reinforced [B, H]; else empty
  Array<Real> selected;         // reinforced: 1 for a key that is in the subset, [B, H, Lk]; else empty
};

/// "" when both parts and the dimensionality are defined here, else the reason why not.
std::string missing(const MechanismSpec& spec);

/// The names of all scores and of all alignments that are defined here.
std::vector<std::string> score_names();
std::vector<std::string> align_names();

/// The parameters a mechanism wants and their shapes, without heads: {"score.from_query", {Dh, Dq}}, ...
struct Widths {
  int64_t query_dim = 0, key_dim = 0, value_dim = 0, hidden_dim = 0;  // Dq, Dk, Dv, Dh
};
std::map<std::string, std::vector<int64_t>> parameter_shapes(const MechanismSpec& spec, const Widths& widths);

/// Tasks are (batch row, head) pairs and share nothing, so the answer has the same bits on any number of threads.
template <typename Real>
Answer<Real> attend(const Problem<Real>& problem, const ParallelFor& parallel_for = in_order);

extern template Answer<double> attend(const Problem<double>&, const ParallelFor&);
extern template Answer<std::complex<double>> attend(const Problem<std::complex<double>>&, const ParallelFor&);

}  // namespace heed::kernels::reference
