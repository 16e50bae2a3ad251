// Sparsemax and entmax:   a = [x - tau]_+ ^ (1 / (alpha - 1)),   x = (alpha - 1) (e - m),   tau such that they sum to 1
//
// m is the largest score. The root tau of the keys seen so far never decreases, so a key at or below it has weight 0 in
// the end. One pass collects the other keys (the candidates) in a buffer and updates tau from time to time, by Newton's
// method from below, where the sum is convex, so that no step overshoots. A row with more candidates than the buffer
// holds improves tau in further passes. The values of few remaining candidates are gathered; many are read in one more
// pass, which turns scores into weights.
//
// Gradients, with s = a^(2 - alpha) and g those of the weights:   ds = s (g - delta),   delta = sum s g / sum s
//   dalpha = sum (g - delta) a (1 / (alpha - 1)^2 - log a / (alpha - 1))
// The derivatives of the weights with respect to alpha sum to 0, so delta may be subtracted from g. The terms that tau
// adds to them are proportional to s (Correia et al., 2019) and cancel, since sum s (g - delta) = 0.

#pragma once

#include <cmath>

#include "heed/kernels/cpu/states/row_state.h"

namespace heed::kernels::cpu {

template <class V>
class SparseState : public RowState<V> {
 public:
  using typename RowState<V>::Real;
  using typename RowState<V>::Reg;
  using State = RowState<V>;
  using F = Functions<V>;

  static constexpr AlignTraits kTraits{.has_lse = false, .needs_second = true};

  SparseState(const Problem<Real>& p, const Steps<V>& steps, Real alpha) : State(p, steps) { set_alpha(alpha); }

  void begin(const Block& at, Real bound, bool known) override {
    State::begin(at, bound, known);
    stage_ = Stage::collect;
    if (known) return;
    max_ = static_cast<int>(State::p_.candidates < State::p_.keys ? State::p_.candidates : State::p_.keys);
    capacity_ = (max_ + kLongTile + 2 * kPad) / kPad * kPad + kPad;  // skewed: rows must not share a cache set
    const auto numbers = static_cast<size_t>(at.rows * capacity_);
    scores_ = static_cast<Real*>(scratch(Slot::copy, numbers * sizeof(Real)));
    keys_ = static_cast<int32_t*>(scratch(Slot::numbers, numbers * sizeof(int32_t)));
    for (int r = 0; r < at.rows; ++r) {
      State::rows_[r].threshold = -1;
      own_[r] = {};
    }
  }

  bool splits() const override { return false; }
  bool reads_values() const override { return stage_ == Stage::normalize_row; }
  bool reads_twice() const override { return stage_ == Stage::normalize_row; }
  bool restores() const override { return stage_ == Stage::normalize_row && recalls_; }

  /// Candidates are sorted by key: each tile takes the next ones.
  void restore(int row, int rows, int64_t key, int columns, Real* s) override {
    for (int r = row; r < row + rows; ++r, s += kTile) {
      Own& own = own_[r];
      const RowStats<Real>& known = State::rows_[r];
      const Real* z = scores_ + r * capacity_;
      const int32_t* number = keys_ + r * capacity_;
      const int64_t end = key + columns;
      for (int c = 0; c < columns; c += V::kLanes)
        V::store(s + c, own.unknown ? V::set1(std::numeric_limits<Real>::quiet_NaN()) : V::zero());
      while (own.next < own.size && number[own.next] < end) {
        const int i = own.next, left = own.size - i;
        if (left >= V::kLanes && number[i + V::kLanes - 1] == number[i] + V::kLanes - 1 &&
            number[i] + V::kLanes <= end) {
          V::store(s + (number[i] - key), to_power(excess(known, V::load(z + i))));  // consecutive keys
          own.next += V::kLanes;
        } else {
          const Real x = by_ * (z[i] - known.max) - known.threshold;
          s[number[i] - key] = x > 0 ? power_of(x) : Real(0);
          ++own.next;
        }
      }
    }
  }
  void merge(int, const RowStats<Real>&, Real*, const Real*) override {}

  void update(int row, int rows, int64_t key, int columns, Real* s, Real*) override {
    for (int r = 0; r < rows; ++r, s += kTile) {
      const int i = row + r;
      if (stage_ == Stage::collect)
        collect(i, key, columns, s);
      else if (stage_ == Stage::improve)
        improve(i, columns, s);
      else
        weights(State::rows_[i], columns, s);
    }
  }

  bool again() override {
    if (stage_ == Stage::normalize_row) return false;
    bool overflow = false, moved = false;
    int64_t survivors = 0;
    for (int r = 0; r < State::at_.rows; ++r) {
      Own& own = own_[r];
      if (own.unknown) continue;
      if (stage_ == Stage::collect && !own.overflow) solve(r, 60);
      survivors += own.size;
      if (!own.overflow) continue;
      overflow = true;
      if (stage_ == Stage::improve && own.derivative > 0) {
        const Real step = static_cast<Real>((own.sum - 1) / own.derivative);
        moved = moved || step > kEnough * (1 + std::fabs(State::rows_[r].threshold));
        if (step > 0) State::rows_[r].threshold += step;
      }
      own.sum = own.derivative = 0;
    }
    if (overflow && (stage_ == Stage::collect || (moved && ++passes_ < 40))) {
      if (stage_ == Stage::collect) passes_ = 0;
      stage_ = Stage::improve;
      return true;
    }
    if (!overflow && survivors * 8 < int64_t{State::at_.rows} * State::p_.keys) return false;
    stage_ = Stage::normalize_row;
    recalls_ = !overflow;
    for (int r = 0; r < State::at_.rows; ++r) own_[r].next = 0;
    return true;
  }

  void finish(int r, const Rows<const Real>& values, Real* context, Real* second) override {
    RowStats<Real>& known = State::rows_[r];
    const Own& own = own_[r];
    const int64_t width = State::p_.value_width;
    if (own.unknown) {
      known.sum = std::numeric_limits<Real>::quiet_NaN();
      for (int64_t i = 0; i < width; ++i) context[i] = known.sum;
      return;
    }
    if (known.max == State::kNone) return;
    known.sum = 1;
    if (stage_ == Stage::normalize_row) {
      if (second != nullptr && own.second > 0) {
        State::scale_row(second, width, static_cast<Real>(1 / own.second));
        known.kept_share = static_cast<Real>(own.second);
      }
      return;
    }
    Real share = 0;
    for (int i = 0; i < own.size; ++i) {
      const Real x = by_ * (scores_[r * capacity_ + i] - known.max) - known.threshold;
      if (!(x > 0)) continue;
      const int32_t key = keys_[r * capacity_ + i];
      const Real* value = values.at(State::at_.batch, State::at_.head / State::p_.group(), key);
      State::add_row(context, width, value, power_of(x) * State::steps_.keeps_one(State::at_, r, key));
      if (second == nullptr) continue;
      State::add_row(second, width, value, gradient_of(x) * State::steps_.keeps_one(State::at_, r, key));
      share += gradient_of(x);
    }
    if (second == nullptr || !(share > 0)) return;
    State::scale_row(second, width, 1 / share);
    known.kept_share = share;
  }

  void normalize_row(int, const RowStats<Real>& known, int64_t, int columns, Real* s) const override {
    weights(known, columns, s);
  }

  /// Weights of the second product of the last pass: s = a^(2 - alpha); finish() divides by their sum.
  void second_weights(int row, int rows, int columns, const Real* s, Real* to) override {
    for (int r = 0; r < rows; ++r, s += kTile, to += kTile) {
      Reg sum = V::zero();
      for (int c = 0; c < columns; c += V::kLanes) {
        const Reg x = gradient_of_weight(V::load(s + c));
        sum = V::add(sum, x);
        V::store(to + c, x);
      }
      own_[row + r].second += V::sum(sum);
    }
  }

  void gradients(int, const RowStats<Real>& known, const typename State::RowGradients& given, int64_t, int columns,
                 Real* s, Real* dp) const override {
    weights(known, columns, s);
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg share = gradient_of_weight(V::load(s + c));
      const Reg ds = V::mul(share, V::sub(V::load(dp + c), V::set1(given.delta)));
      V::store(dp + c, V::select(V::equal(share, V::zero()), V::zero(), ds));
    }
  }

  /// s / sum s
  void delta_weights(int, const RowStats<Real>& known, int64_t, int columns, Real* s) const override {
    weights(known, columns, s);
    const Reg share = V::set1(1 / known.kept_share);
    for (int c = 0; c < columns; c += V::kLanes) V::store(s + c, V::mul(gradient_of_weight(V::load(s + c)), share));
  }
  typename State::PairShares pair_gradients(int row, const RowStats<Real>& known, int64_t key, Real score,
                                            bool of_log) const override {
    const Real weight = State::weight_of(row, known, key, score);
    if (weight == 0) return {};
    alignas(64) Real s[kPad];
    V::store(s, gradient_of_weight(V::set1(weight)));
    const Real by = of_log ? s[0] / weight : s[0];
    return {by, by / known.kept_share, 0};
  }

  /// (g - delta) a = ds a^(alpha - 1)
  Real grad_alpha(int columns, const Real* weights, const Real* ds) const override {
    const Reg min = V::set1(std::numeric_limits<Real>::min());
    const Reg first = V::set1(power_ * power_), second = V::set1(power_ * Real(kLn2));
    Reg sum = V::zero();
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg a = V::load(weights + c), factor = V::fnma(second, V::log2(V::max(a, min)), first);
      const Reg part = V::mul(V::mul(V::load(ds + c), excess_of_weight(a)), factor);
      sum = V::add(sum, V::select(V::equal(a, V::zero()), V::zero(), part));
    }
    return V::sum(sum);
  }

 protected:
  void set_alpha(Real alpha) {
    by_ = alpha - 1;
    power_ = 1 / by_;
    kind_ = by_ == 1 ? Kind::linear : by_ == Real(0.5) ? Kind::square : Kind::any;
  }

 private:
  enum class Stage { collect, improve, normalize_row };
  enum class Kind { linear, square, any };  // 1 / (alpha - 1) is 1; 2; any other number
  static constexpr Real kEnough = sizeof(Real) == 4 ? Real(1e-7) : Real(1e-16);

  struct Own {  // running state of a row; again: size of the buffer at which tau is updated next
    int size = 0, again = 32, next = 0;
    bool overflow = false, unknown = false;
    double sum = 0, derivative = 0, second = 0;
  };

  Reg to_power(Reg x) const {  // x >= 0
    if (kind_ == Kind::linear) return x;
    if (kind_ == Kind::square) return V::mul(x, x);
    const Real power = power_;
    return V::each(x, [power](Real y) { return y > 0 ? std::pow(y, power) : Real(0); });
  }
  Real power_of(Real x) const {
    return kind_ == Kind::linear ? x : kind_ == Kind::square ? x * x : std::pow(x, power_);
  }
  /// a^(2 - alpha) of a = x^power is x^(power - 1).
  Real gradient_of(Real x) const {
    return kind_ == Kind::linear ? Real(1) : kind_ == Kind::square ? x : std::pow(x, power_ - 1);
  }
  Reg gradient_of_weight(Reg a) const {
    if (kind_ == Kind::linear)
      return V::select(V::greater(a, V::zero()), V::set1(1), V::select(V::equal(a, a), V::zero(), a));
    if (kind_ == Kind::square) return V::sqrt(a);
    const Real power = 1 - by_;
    return V::each(a, [power](Real y) { return y == 0 ? y : std::pow(y, power); });
  }
  /// a^(alpha - 1)
  Reg excess_of_weight(Reg a) const {
    if (kind_ == Kind::linear) return a;
    if (kind_ == Kind::square) return V::sqrt(a);
    const Real power = by_;
    return V::each(a, [power](Real y) { return y == 0 ? y : std::pow(y, power); });
  }
  Reg excess(const RowStats<Real>& known, Reg e) const {
    return V::max(V::fma(V::sub(e, V::set1(known.max)), V::set1(by_), V::set1(-known.threshold)), V::zero());
  }
  void weights(const RowStats<Real>& known, int columns, Real* s) const {
    const bool unknown = known.sum != known.sum;
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg e = V::load(s + c), none = V::set1(State::kNone);
      const Reg a = unknown ? V::set1(known.sum) : known.max == State::kNone ? V::zero() : to_power(excess(known, e));
      V::store(s + c, V::select(V::equal(e, none), V::zero(), a));
    }
  }

  void collect(int r, int64_t key, int columns, const Real* s) {
    Own& own = own_[r];
    RowStats<Real>& known = State::rows_[r];
    Reg m = V::set1(State::kNone);
    uint32_t bad = 0;
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg x = V::load(s + c);
      m = V::max(m, x);
      bad |= V::bits(V::non_finite(x));
    }
    own.unknown = own.unknown || bad != 0;
    if (own.unknown) return;
    const Real tile = V::reduce_max(m);
    if (tile > known.max) {
      const Real fallen = known.threshold - by_ * (tile - known.max);
      known.threshold = fallen > -1 ? fallen : Real(-1);
      known.max = tile;
    }
    if (own.overflow || known.max == State::kNone) return;
    Real* z = scores_ + r * capacity_;
    int32_t* number = keys_ + r * capacity_;
    const Reg top = V::set1(known.max), scale = V::set1(by_), floor = V::set1(known.threshold);
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg x = V::load(s + c);
      const auto in = V::greater(V::mul(V::sub(x, top), scale), floor);
      if (V::bits(in) != 0)
        own.size += V::compress(in, x, static_cast<int32_t>(key + c), z + own.size, number + own.size);
    }
    if (own.size > own.again) solve(r, 2);
    if (own.size > max_) own.overflow = true;
  }

  /// At most `steps` Newton steps on the candidates; removes those at or below tau.
  void solve(int r, int steps) {
    Own& own = own_[r];
    RowStats<Real>& known = State::rows_[r];
    Real* z = scores_ + r * capacity_;
    int32_t* number = keys_ + r * capacity_;
    const int first = own.size;
    for (int step = 0; step < steps && own.size > 0; ++step) {
      Reg sum = V::zero(), derivative = V::zero(), low = V::set1(z[0]);
      for (int i = 0; i < own.size; i += V::kLanes) {
        const Reg e = V::select(V::lanes(0, own.size - i), V::load(z + i), low);
        low = V::min(low, e);
        add_terms(V::select(V::lanes(0, own.size - i), excess(known, e), V::zero()), sum, derivative);
      }
      const Real all = V::sum(sum), by = V::sum(derivative),
                 smallest = by_ * (-V::reduce_max(F::negative(low)) - known.max);
      const Real exact = at_once(all, by, own.size);
      Real move = (all - 1) / (power_ * by);
      const bool known_root = exact > move && known.threshold + exact < smallest;
      if (known_root) move = exact;
      if (move > 0) known.threshold += move;
      const bool all_stay = smallest > known.threshold;
      if (!all_stay) own.size = compact(known, z, number, own.size);
      if (!(move > kEnough) || known_root || (kind_ == Kind::linear && all_stay)) break;
    }
    own.again = own.size * 4 > first * 3 ? 4 * own.size : 2 * own.size + 32;  // less often if few are removed
  }
  /// alpha = 1.5 and no further candidate removed: the sum is a parabola in tau; its root in closed form, else 0.
  Real at_once(Real squares, Real sum, int size) const {
    if (kind_ != Kind::square) return 0;
    const Real inside = sum * sum - static_cast<Real>(size) * (squares - 1);
    return inside < 0 ? Real(0) : (sum - std::sqrt(inside)) / static_cast<Real>(size);
  }
  /// Adds x^power and x^(power - 1).
  HEED_INLINE void add_terms(Reg x, Reg& sum, Reg& derivative) const {
    const Reg some = V::select(V::greater(x, V::zero()), V::set1(1), V::zero());
    if (kind_ == Kind::linear) {
      sum = V::add(sum, x);
      derivative = V::add(derivative, some);
    } else if (kind_ == Kind::square) {
      sum = V::fma(x, x, sum);
      derivative = V::add(derivative, x);
    } else {
      const Real power = power_;
      sum = V::add(sum, to_power(x));
      derivative = V::add(derivative, V::each(x, [power](Real y) { return y > 0 ? std::pow(y, power - 1) : Real(0); }));
    }
  }
  /// Keeps the entries above tau, in order; reads and writes whole registers. Returns how many.
  int compact(const RowStats<Real>& known, Real* z, int32_t* number, int size) const {
    int kept = 0;
    const Reg top = V::set1(known.max), scale = V::set1(by_), floor = V::set1(known.threshold);
    for (int i = 0; i < size; i += V::kLanes) {
      const Reg x = V::load(z + i);
      const auto in = V::both(V::greater(V::mul(V::sub(x, top), scale), floor), V::lanes(0, size - i));
      kept += V::compress(in, x, number + i, z + kept, number + kept);
    }
    return kept;
  }

  void improve(int r, int columns, const Real* s) {
    Own& own = own_[r];
    if (!own.overflow || own.unknown) return;
    Reg sum = V::zero(), derivative = V::zero();
    for (int c = 0; c < columns; c += V::kLanes) add_terms(excess(State::rows_[r], V::load(s + c)), sum, derivative);
    own.sum += V::sum(sum);
    own.derivative += power_ * V::sum(derivative);
  }

  Real by_ = 1, power_ = 1;  // alpha - 1, 1 / (alpha - 1)
  Kind kind_ = Kind::linear;
  Stage stage_ = Stage::collect;
  int max_ = 0, passes_ = 0;
  bool recalls_ = false;
  int64_t capacity_ = 0;
  Real* scores_ = nullptr;
  int32_t* keys_ = nullptr;
  Own own_[kRowsMax];
};

/// alpha = 2
template <class V>
class SparsemaxState final : public SparseState<V> {
 public:
  SparsemaxState(const Problem<typename V::Real>& p, const Steps<V>& steps) : SparseState<V>(p, steps, 2) {}
};

template <class V>
class EntmaxState final : public SparseState<V> {
 public:
  static constexpr AlignTraits kTraits{.has_lse = false, .needs_second = true, .reads_alpha = true};
  EntmaxState(const Problem<typename V::Real>& p, const Steps<V>& steps) : SparseState<V>(p, steps, p.alpha) {}

  void begin(const Block& at, typename V::Real bound, bool known) override {
    const Problem<typename V::Real>& p = RowState<V>::p_;
    if (p.alphas != nullptr) SparseState<V>::set_alpha(p.alphas[at.head * p.alphas_head]);
    SparseState<V>::begin(at, bound, known);
  }
};

}  // namespace heed::kernels::cpu
