// Softmax, in one pass:   a_j = exp(e_j - m) / sum exp(e - m),   m the largest score so far
//
// If scores are known to be bounded, m is the bound: there is no running maximum and no rescaling. With local_p's
// Gaussian on the weights, the sum is taken without the Gaussian. straight_through: the context is the value of the
// best key; `second` is the softmax context, for the gradients.

#pragma once

#include "heed/kernels/cpu/states/row_state.h"

namespace heed::kernels::cpu {

template <class V>
class SoftmaxState : public RowState<V> {
 public:
  using typename RowState<V>::Real;
  using typename RowState<V>::Reg;
  using State = RowState<V>;
  using F = Functions<V>;
  using State::State;

  void begin(const Block& at, Real bound, bool known) override {
    State::begin(at, bound, known);
    bounded_ = bound <= 40;
    if (bounded_)
      for (int r = 0; r < at.rows; ++r) State::rows_[r].max = bound * Real(kLog2E);
  }
  bool rescales() const override { return !bounded_; }

  void update(int row, int rows, int64_t key, int columns, Real* s, Real* factor) override {
    for (int r = 0; r < rows; ++r, s += kTile) {
      RowStats<Real>& known = State::rows_[row + r];
      if (!bounded_) factor[r] = grow(known, State::largest(s, columns));
      const Reg top = minus_top(known);
      Reg sum = V::zero();
#pragma GCC unroll 2
      for (int c = 0; c < columns; c += V::kLanes) {
        const Reg p = State::exp_below(V::load(s + c), top);
        sum = V::add(sum, p);
        V::store(s + c, p);
      }
      known.sum += V::sum(sum);
      if (State::p_.gauss == Gauss::weights) spread(row + r, key, columns, s);
    }
  }

  bool exp2_bound(Real& minus_top) const override {
    minus_top = -State::rows_[0].max;
    return bounded_ && State::p_.gauss == Gauss::none;
  }
  void accumulate(int row, int rows, const Real* sums) override {
    for (int r = 0; r < rows; ++r) State::rows_[row + r].sum += V::sum(V::load(sums + r * V::kLanes));
  }

  void merge(int row, const RowStats<Real>& later, Real* context, const Real* later_context) override {
    RowStats<Real>& mine = State::rows_[row];
    const Real top = later.max > mine.max ? later.max : mine.max;
    if (top == State::kNone) {  // both have no kept key, or only NaN scores
      mine.sum += later.sum;
      return;
    }
    const Real a = std::exp2(mine.max - top), b = std::exp2(later.max - top);
    State::scale_row(context, State::p_.value_width, a);
    State::add_row(context, State::p_.value_width, later_context, b);
    mine.sum = mine.sum * a + later.sum * b;
    mine.max = top;
  }

  void finish(int row, const Rows<const Real>&, Real* context, Real*) override {
    const Real sum = State::rows_[row].sum;
    if (sum != 0) State::scale_row(context, State::p_.value_width, 1 / sum);
  }

  void normalize_row(int row, const RowStats<Real>& known, int64_t key, int columns, Real* s) const override {
    normalize(known, columns, s);
    if (State::p_.gauss == Gauss::weights) spread(row, key, columns, s);
  }

  Real log_weight(int row, const RowStats<Real>& known, int64_t key, Real score) const override {
    Real log = (std::fma(score, Real(kLog2E), -known.max) - std::log2(known.sum)) * Real(kLn2);
    if (State::p_.gauss == Gauss::weights) {
      const Real off = Real(key) - State::p_.position[index(row)];
      log -= off * off / (2 * State::p_.sigma * State::p_.sigma);
    }
    return log;
  }

  /// The logarithm is the argument of the exponential: none is computed.
  Real entropy(int row, const RowStats<Real>& known, int64_t key, int columns, const Real* s) const override {
    if (entropy_gradient() != State::EntropyGradient::closed) return State::entropy(row, known, key, columns, s);
    if (known.sum == 0) return 0;
    const Reg none = V::set1(State::kNone), share = V::set1(1 / known.sum);
    const Reg top = minus_top(known), log_sum = V::set1(std::log2(known.sum));
    Reg sum = V::zero();
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg e = V::load(s + c), p = V::mul(State::exp_below(e, top), share);
      sum = V::add(sum, V::select(V::equal(e, none), V::zero(), V::mul(p, log2_weight(e, top, log_sum))));
    }
    return -V::sum(sum) * Real(kLn2);
  }

  /// ds = P (g dP - delta + dlse);  the gradient with respect to the position is sum_j P g dP (j - p) / sigma^2
  void gradients(int row, const RowStats<Real>& known, const typename State::RowGradients& given, int64_t key,
                 int columns, Real* s, Real* dp) const override {
    const Reg all = V::set1(given.delta - given.lse);
    if (State::p_.gauss != Gauss::weights && known.sum > 0) {
      const Reg top = minus_top(known), share = V::set1(1 / known.sum);
      const bool masked = State::p_.mask.any();  // if not, no weight is 0 and dP needs no guard against NaN
      for (int c = 0; c < columns; c += V::kLanes) {
        const Reg p = V::mul(State::exp_below(V::load(s + c), top), share), grad = V::sub(V::load(dp + c), all);
        V::store(s + c, p);
        V::store(dp + c, masked ? times(p, grad) : V::mul(p, grad));
      }
      return;
    }
    normalize(known, columns, s);
    if (State::p_.gauss != Gauss::weights) {
      for (int c = 0; c < columns; c += V::kLanes)
        V::store(dp + c, times(V::load(s + c), V::sub(V::load(dp + c), all)));
      return;
    }
    const Real narrow = 1 / (State::p_.sigma * State::p_.sigma);
    Reg position = V::zero();
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg p = V::load(s + c), g = F::exp(State::steps_.log_gauss(index(row), key + c));
      const Reg part = V::mul(g, V::load(dp + c));
      const Reg off = V::sub(V::iota(Real(key + c)), V::set1(State::p_.position[index(row)]));
      position = V::fma(times(p, part), V::mul(off, V::set1(narrow)), position);
      V::store(dp + c, times(p, V::sub(part, all)));
      V::store(s + c, V::mul(p, g));
    }
    grad_position_ = V::sum(position);
  }
  Real grad_position() const override {
    return grad_position_;
  }

  typename State::EntropyGradient entropy_gradient() const override {
    return State::p_.gauss == Gauss::weights ? State::EntropyGradient::general : State::EntropyGradient::closed;
  }
  /// dH/ds_k = -P_k (log P_k + H): G = -log P, where log P = e - lse is finite even if P is 0.
  void add_entropy(int row, const RowStats<Real>& known, Real grad, int64_t key, int columns, const Real* s,
                   Real* dp) const override {
    if (entropy_gradient() != State::EntropyGradient::closed)
      return State::add_entropy(row, known, grad, key, columns, s, dp);
    const Reg none = V::set1(State::kNone), by = V::set1(grad * Real(kLn2));
    const Reg top = minus_top(known), sum = V::set1(std::log2(known.sum));
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg e = V::load(s + c), g = V::load(dp + c);
      V::store(dp + c, V::select(V::equal(e, none), g, V::fnma(by, log2_weight(e, top, sum), g)));
    }
  }
  typename State::PairShares pair_gradients(int row, const RowStats<Real>& known, int64_t key, Real score,
                                            bool of_log) const override {
    const Real share = of_log ? Real(1) : State::weight_of(row, known, key, score);
    if (State::p_.gauss != Gauss::weights) return {share, share, 0};
    const Real off = Real(key) - State::p_.position[index(row)];
    return {share, share, share * off / (State::p_.sigma * State::p_.sigma)};
  }

 protected:
  /// Updates the running maximum with that of a tile; returns the factor by which earlier sums must be multiplied.
  Real grow(RowStats<Real>& known, Real tile) {
    const Real top = tile * Real(kLog2E);
    if (!(top > known.max)) return 1;
    const Real factor = std::exp2(known.max - top);  // 0 before the first kept key
    known.sum *= factor;
    known.max = top;
    return factor;
  }
  /// Adds a tile to the normalizer; does not change the scores.
  void count(RowStats<Real>& known, int columns, const Real* s) {
    grow(known, State::largest(s, columns));
    const Reg top = minus_top(known);
    Reg sum = V::zero();
    for (int c = 0; c < columns; c += V::kLanes) sum = V::add(sum, State::exp_below(V::load(s + c), top));
    known.sum += V::sum(sum);
  }
  static Reg minus_top(const RowStats<Real>& known) {
    return V::set1(known.max == State::kNone ? Real(0) : -known.max);
  }
  /// log2 P, also where P underflows.
  static HEED_INLINE Reg log2_weight(Reg e, Reg minus_top, Reg log2_sum) {
    return V::sub(V::fma(e, V::set1(Real(kLog2E)), minus_top), log2_sum);
  }
  void normalize(const RowStats<Real>& known, int columns, Real* s) const {
    if (known.sum == 0) {
      for (int c = 0; c < columns; c += V::kLanes) V::store(s + c, V::zero());
      return;
    }
    const Reg top = minus_top(known), share = V::set1(1 / known.sum), none = V::set1(State::kNone);
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg e = V::load(s + c);
      V::store(s + c, V::select(V::equal(e, none), V::zero(), V::mul(State::exp_below(e, top), share)));
    }
  }
  /// weight x, but 0 where the weight is 0, even if x is NaN.
  static Reg times(Reg weight, Reg x) {
    return V::select(V::equal(weight, V::zero()), V::zero(), V::mul(weight, x));
  }

  int64_t index(int row) const {
    return State::p_.row_index(State::at_.batch, State::at_.head, State::at_.query + row);
  }
  void spread(int row, int64_t key, int columns, Real* s) const {
    for (int c = 0; c < columns; c += V::kLanes)
      V::store(s + c, V::mul(V::load(s + c), F::exp(State::steps_.log_gauss(index(row), key + c))));
  }

  bool bounded_ = false;
  mutable Real grad_position_ = 0;
};

/// Forward is the value of the best key; gradients are those of softmax.
template <class V>
class StraightThroughState final : public SoftmaxState<V> {
 public:
  using typename RowState<V>::Real;
  using State = RowState<V>;
  using SoftmaxState<V>::SoftmaxState;

  static constexpr AlignTraits kTraits{.needs_second = true};

  void begin(const Block& at, Real, bool known) override {
    SoftmaxState<V>::begin(at, std::numeric_limits<Real>::infinity(), known);
  }

  void update(int row, int rows, int64_t key, int columns, Real* s, Real* factor) override {
    for (int r = 0; r < rows; ++r) {
      RowStats<Real>& known = State::rows_[row + r];
      const Real tile = State::largest(s + r * kTile, columns);
      if (!(tile * Real(kLog2E) > known.max)) continue;
      for (int c = 0; c < columns; ++c)
        if (s[r * kTile + c] == tile) {
          known.key = static_cast<int32_t>(key + c);
          break;
        }
    }
    SoftmaxState<V>::update(row, rows, key, columns, s, factor);
  }
  void merge(int row, const RowStats<Real>& later, Real* context, const Real* later_context) override {
    if (later.max > State::rows_[row].max) State::rows_[row].key = later.key;
    SoftmaxState<V>::merge(row, later, context, later_context);
  }
  void finish(int row, const Rows<const Real>& values, Real* context, Real* second) override {
    SoftmaxState<V>::finish(row, values, context, second);
    const RowStats<Real>& known = State::rows_[row];
    const int64_t width = State::p_.value_width;
    if (second != nullptr)
      for (int64_t i = 0; i < width; ++i) second[i] = context[i];
    if (known.key < 0 || known.sum != known.sum) return;
    const Real by = State::steps_.keeps_one(State::at_, row, known.key);
    const Real* value = values.at(State::at_.batch, State::at_.head / State::p_.group(), known.key);
    for (int64_t i = 0; i < width; ++i) context[i] = by * value[i];
  }
  void normalize_row(int, const RowStats<Real>& known, int64_t key, int columns, Real* s) const override {
    one_hot(known, key, columns, s);
  }
  Real log_weight(int, const RowStats<Real>& known, int64_t key, Real) const override {
    return known.key == key ? Real(0) : State::kNone;
  }
  void gradients(int row, const RowStats<Real>& known, const typename State::RowGradients& given, int64_t key,
                 int columns, Real* s, Real* dp) const override {
    SoftmaxState<V>::gradients(row, known, given, key, columns, s, dp);
    one_hot(known, key, columns, s);
  }
  typename State::EntropyGradient entropy_gradient() const override { return State::EntropyGradient::none; }
  void delta_weights(int, const RowStats<Real>& known, int64_t, int columns, Real* s) const override {
    this->normalize(known, columns, s);
  }
  typename State::PairShares pair_gradients(int, const RowStats<Real>& known, int64_t key, Real score,
                                            bool of_log) const override {
    if (of_log && known.key != key) return {};
    alignas(64) Real s[kPad];
    for (Real& x : s) x = score;
    this->normalize(known, kPad, s);
    return {s[0], s[0], 0};
  }

 private:
  static void one_hot(const RowStats<Real>& known, int64_t key, int columns, Real* s) {
    const Real none = known.sum != known.sum ? known.sum : Real(0);
    for (int c = 0; c < columns; ++c) s[c] = s[c] == State::kNone ? Real(0) : none;
    if (known.key >= key && known.key < key + columns && known.sum == known.sum) s[known.key - key] = 1;
  }
};

}  // namespace heed::kernels::cpu
