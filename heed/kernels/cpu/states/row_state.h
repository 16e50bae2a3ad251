// A row state: the part of a kernel that depends on the alignment.
//
// A state belongs to one block of queries and receives the tiles of scores in order. It turns scores into weights in
// place and gives absent scores (-inf) weight exactly 0. It may request that the context accumulated so far be
// rescaled, or another pass over the keys. Afterwards RowStats suffice to recompute weights from scores, and to turn
// gradients of weights into gradients of scores.

#pragma once

#include <limits>

#include "heed/kernels/cpu/engine/memory.h"
#include "heed/kernels/cpu/engine/steps.h"
#include "heed/kernels/cpu/tiles/score_tile.h"

namespace heed::kernels::cpu {

template <class V>
class RowState {
 public:
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  static constexpr Real kNone = -std::numeric_limits<Real>::infinity();

  // ---- traits: a state declares those in which it differs; the engine asks for them through the table

  static constexpr AlignTraits kTraits{};
  /// Whether update() itself adds Gumbel noise; the engine then leaves the scores as they are before it.
  static constexpr bool kDrawsNoise = false;

  RowState(const Problem<Real>& p, const Steps<V>& steps) : p_(p), steps_(steps) {}
  virtual ~RowState() = default;

  /// Moves to a block. bound: no score is larger (or infinity). known: RowStats are final and update() is not called.
  virtual void begin(const Block& at, Real /*bound*/, bool /*known*/) {
    at_ = at;
    for (int r = 0; r < at.rows; ++r) rows_[r] = RowStats<Real>{kNone, 0, 0, 1, -1};
  }

  /// Whether keys may be split into chunks whose results merge() combines.
  virtual bool splits() const { return true; }
  /// Whether update() writes `factor`, by which the engine multiplies the context so far.
  virtual bool rescales() const { return false; }
  /// Whether this pass turns scores into weights, which the engine multiplies by the values.
  virtual bool reads_values() const { return true; }
  /// Whether the engine also multiplies the values by the weights of second_weights().
  virtual bool reads_twice() const { return false; }
  virtual void second_weights(int /*row*/, int /*rows*/, int /*columns*/, const Real* /*weights*/, Real* /*to*/) {}

  /// Processes the scores of rows row ... row + rows - 1 of the block and keys key ... key + columns - 1.
  virtual void update(int row, int rows, int64_t key, int columns, Real* s, Real* factor) = 0;
  /// Whether weights are 2^(e log2(e) + minus_top) for all rows alike. A score tile may then compute them itself;
  /// accumulate() receives their sums, [row][lane].
  virtual bool exp2_bound(Real& /*minus_top*/) const { return false; }
  virtual void accumulate(int /*row*/, int /*rows*/, const Real* /*sums*/) {}
  /// Whether the state knows the weights of this pass without scores: restore() then writes them, and neither scores()
  /// nor update() is called.
  virtual bool restores() const { return false; }
  virtual void restore(int /*row*/, int /*rows*/, int64_t /*key*/, int /*columns*/, Real* /*s*/) {}
  /// Called after the last tile: whether another pass is needed.
  virtual bool again() { return false; }
  /// Combines the results of two chunks of keys.
  virtual void merge(int row, const RowStats<Real>& later, Real* context, const Real* later_context) = 0;
  /// Completes the context of a row, and `second` for backward.
  virtual void finish(int row, const Rows<const Real>& values, Real* context, Real* second) = 0;

  /// Scores -> weights, in place.
  virtual void normalize_row(int row, const RowStats<Real>& known, int64_t key, int columns, Real* s) const = 0;
  /// Scores -> the distribution whose entropy is reported, in place.
  virtual void distribution(int row, const RowStats<Real>& known, int64_t key, int columns, Real* s) const {
    normalize_row(row, known, key, columns, s);
  }
  /// -sum a log a over some keys of that distribution.
  virtual Real entropy(int row, const RowStats<Real>& known, int64_t key, int columns, const Real* s) const {
    alignas(64) Real a[kTile];
    for (int c = 0; c < columns; c += V::kLanes) V::store(a + c, V::load(s + c));
    distribution(row, known, key, columns, a);
    Reg sum = V::zero();
    const Reg one = V::set1(1), min = V::set1(std::numeric_limits<Real>::min());
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg x = V::load(a + c);
      const Reg log = V::log2(V::select(V::greater(min, x), one, x));  // 0 log 0 = 0
      sum = V::fma(x, V::select(V::equal(x, x), log, x), sum);
    }
    return -V::sum(sum) * Real(kLn2);
  }
  /// The log of one weight.
  virtual Real log_weight(int row, const RowStats<Real>& known, int64_t key, Real score) const {
    return std::log(weight_of(row, known, key, score));
  }
  /// Only if kTraits.has_lse.
  Real lse(const RowStats<Real>& known) const {
    return known.sum == 0 ? kNone : (known.max + std::log2(known.sum)) * Real(kLn2);
  }

  /// In place: s goes from scores to weights, dp from gradients of the weights to gradients of the scores.
  struct RowGradients {  // of one row
    // sum_j u_j dP_j, u the weights of delta_weights(), which for the context is dL/dcontext . context, or . second if
    // kTraits.needs_second; dL/dlse; dL/dlog_probability; dL/dentropy, if it is in dp
    Real delta, lse, log_probability, entropy;
  };
  virtual void gradients(int row, const RowStats<Real>& known, const RowGradients& given, int64_t key, int columns,
                         Real* s, Real* dp) const = 0;
  /// Gradient with respect to the position of local_p, from the last call of gradients().
  virtual Real grad_position() const { return 0; }
  /// Gradient with respect to alpha, from the weights of some keys of a row and the gradients of their scores.
  virtual Real grad_alpha(int /*columns*/, const Real* /*weights*/, const Real* /*ds*/) const { return 0; }

  // ---- gradients of requested outputs

  /// How the entropy H depends on the scores. closed: it is that of a softmax, and add_entropy() adds G with
  /// sum_j u_j G_j = dL/dH H.
  enum class EntropyGradient { none, closed, general };
  virtual EntropyGradient entropy_gradient() const { return EntropyGradient::general; }
  /// Adds the gradients G of the entropy with respect to the weights, times grad, to dp: -(log a + 1) where a > 0.
  virtual void add_entropy(int row, const RowStats<Real>& known, Real grad, int64_t key, int columns, const Real* s,
                           Real* dp) const {
    alignas(64) Real a[kTile];
    for (int c = 0; c < columns; c += V::kLanes) V::store(a + c, V::load(s + c));
    distribution(row, known, key, columns, a);
    const Reg one = V::set1(1), min = V::set1(std::numeric_limits<Real>::min()), by = V::set1(grad);
    for (int c = 0; c < columns; c += V::kLanes) {
      const auto some = V::at_least(V::load(a + c), min);
      const Reg log = V::mul(V::log2(V::select(some, V::load(a + c), one)), V::set1(Real(kLn2))), g = V::load(dp + c);
      V::store(dp + c, V::select(some, V::fnma(by, V::add(log, one), g), g));
    }
  }
  /// Scores -> the weights u of delta, in place.
  virtual void delta_weights(int row, const RowStats<Real>& known, int64_t key, int columns, Real* s) const {
    normalize_row(row, known, key, columns, s);
  }
  /// What a gradient of 1 with respect to one weight, or its logarithm, adds: to the gradient of its score, to delta,
  /// to the gradient of the position. 0 where the weight is 0, unless its logarithm is finite.
  struct PairShares {
    Real score = 0, delta = 0, position = 0;
  };
  virtual PairShares pair_gradients(int row, const RowStats<Real>& known, int64_t key, Real score,
                                    bool of_log) const = 0;

  RowStats<Real>* rows() { return rows_; }

 protected:
  Real weight_of(int row, const RowStats<Real>& known, int64_t key, Real score) const {
    alignas(64) Real s[kPad];
    for (Real& x : s) x = score;
    normalize_row(row, known, key, kPad, s);
    return s[0];
  }
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
  // Softmax and variants store their maximum times log2(e): e log2(e) - top is then rounded once, for any top.
  static Reg exp_below(Reg s, Reg minus_top) { return V::exp2_below(V::fma(s, V::set1(Real(kLog2E)), minus_top)); }
  static Real exp_below(Real s, Real top) { return std::exp2(std::fma(s, Real(kLog2E), -top)); }

  const Problem<Real>& p_;
  const Steps<V>& steps_;
  Block at_{};
  RowStats<Real> rows_[kRowsMax];
};

}  // namespace heed::kernels::cpu
