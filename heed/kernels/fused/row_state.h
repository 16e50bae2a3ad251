// A row state: what varies in an alignment.
//
// A state belongs to one block of queries and meets the tiles of scores in order. It turns scores into weights in
// place, gives absent scores (-inf) weight exactly 0, and may ask that the context so far be scaled, or for another
// pass over the keys. Afterwards RowStats are enough to turn scores into weights once more, and gradients of weights
// into those of scores.

#pragma once

#include <limits>

#include "heed/kernels/fused/memory.h"
#include "heed/kernels/fused/score_tile.h"
#include "heed/kernels/fused/steps.h"

namespace heed::kernels::fused {

template <class V>
class RowState {
 public:
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  static constexpr Real kNone = -std::numeric_limits<Real>::infinity();

  RowState(const Problem<Real>& p, const Steps<V>& steps) : p_(p), steps_(steps) {}
  virtual ~RowState() = default;

  /// Moves to a block. bound: no score is larger, or infinity. known: its rows are finished, and nothing is absorbed.
  virtual void begin(const Block& at, Real /*bound*/, bool /*known*/) {
    at_ = at;
    for (int r = 0; r < at.rows; ++r) rows_[r] = RowStats<Real>{kNone, 0, 0, 1, -1};
  }

  /// Keys may be split among threads, and the parts joined by merge().
  virtual bool splits() const { return true; }
  /// update() fills factor.
  virtual bool rescales() const { return false; }
  /// This pass turns scores into weights, and the engine multiplies them by the values.
  virtual bool reads_values() const { return true; }
  /// Another product with the values is wanted, by weights that second_weights() makes.
  virtual bool reads_twice() const { return false; }
  virtual void second_weights(int /*row*/, int /*rows*/, int /*columns*/, const Real* /*weights*/, Real* /*to*/) {}

  /// Scores of rows row ... of the block, of keys key ... key + columns - 1.
  virtual void update(int row, int rows, int64_t key, int columns, Real* s, Real* factor) = 0;
  /// Where weights are 2^(e log2(e) + minus_top) for all rows alike, a score tile may make them itself; accumulate()
  /// gets their sums, [row][lane].
  virtual bool exp2_bound(Real& /*minus_top*/) const { return false; }
  virtual void accumulate(int /*row*/, int /*rows*/, const Real* /*sums*/) {}
  /// In this pass the state knows the weights without scores: restore() replaces both.
  virtual bool restores() const { return false; }
  virtual void restore(int /*row*/, int /*rows*/, int64_t /*key*/, int /*columns*/, Real* /*s*/) {}
  /// After the last tile: another pass?
  virtual bool again() { return false; }
  /// Joins what two parts of the keys gave.
  virtual void merge(int row, const RowStats<Real>& later, Real* context, const Real* later_context) = 0;
  /// Completes the context of a row, and what backward needs beside it.
  virtual void finish(int row, const Rows<const Real>& values, Real* context, Real* second) = 0;

  /// Scores -> weights, in place.
  virtual void normalize_row(int row, const RowStats<Real>& known, int64_t key, int columns, Real* s) const = 0;
  /// Scores -> what entropy is asked of.
  virtual void distribution(int row, const RowStats<Real>& known, int64_t key, int columns, Real* s) const {
    normalize_row(row, known, key, columns, s);
  }
  /// The log of one weight.
  virtual Real log_weight(int row, const RowStats<Real>& known, int64_t key, Real score) const {
    alignas(64) Real s[kPad];
    for (Real& x : s) x = score;
    normalize_row(row, known, key, kPad, s);
    return std::log(s[0]);
  }
  virtual Real lse(const RowStats<Real>& known) const {
    return known.sum == 0 ? kNone : (known.max + std::log2(known.sum)) * Real(kLn2);
  }

  /// Gradients: s holds scores and becomes weights; dp holds gradients of the weights and becomes those of the scores.
  struct RowGradients {                // of a row
    Real delta, lse, log_probability;  // dL/dcontext . context (or . second); dL/dlse; dL/dlog_probability
  };
  virtual void gradients(int row, const RowStats<Real>& known, const RowGradients& given, int64_t key, int columns,
                         Real* s, Real* dp) const = 0;
  /// delta is taken from `second`.
  virtual bool uses_second() const { return false; }
  virtual Real grad_position() const { return 0; }

  RowStats<Real>* rows() { return rows_; }

 protected:
  static void scale_row(Real* x, int64_t n, Real by) {
    const Reg factor = V::set1(by);
    for (int64_t i = 0; i < n; i += V::kLanes) V::store(x + i, V::mul(V::load(x + i), factor));
  }
  static void add_row(Real* x, int64_t n, const Real* y, Real by) {
    const Reg factor = V::set1(by);
    for (int64_t i = 0; i < n; i += V::kLanes) V::store(x + i, V::fma(factor, V::load(y + i), V::load(x + i)));
  }
  /// columns is a multiple of kPad.
  static Real largest(const Real* s, int columns) {
    Reg m = V::load(s), n = V::load(s + kPad - V::kLanes);
    int c = V::kLanes;
    for (; c + 2 * V::kLanes <= columns; c += 2 * V::kLanes) {
      m = V::max(m, V::load(s + c));
      n = V::max(n, V::load(s + c + V::kLanes));
    }
    if (c < columns) m = V::max(m, V::load(s + c));
    return V::reduce_max(V::max(m, n));
  }
  // Softmax and its kin count their reference in powers of 2: e log2(e) - top is rounded once, whatever top is.
  static Reg exp_below(Reg s, Reg minus_top) { return V::exp2_below(V::fma(s, V::set1(Real(kLog2E)), minus_top)); }
  static Real exp_below(Real s, Real top) { return std::exp2(std::fma(s, Real(kLog2E), -top)); }

  const Problem<Real>& p_;
  const Steps<V>& steps_;
  Block at_{};
  RowStats<Real> rows_[kRowsMax];
};

}  // namespace heed::kernels::fused
