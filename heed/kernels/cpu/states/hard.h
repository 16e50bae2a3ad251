// Hard: all weight on one key: the argmax of e, or a sample of softmax(e) as the argmax of e + g, g = -log(-log u).
//
// A key can win only if -log u < exp(e - best), so with a panel's largest e one comparison of u rules out almost every
// key, and logarithms are rare. with_lse: the same pass also computes the normalizer of softmax.

#pragma once

#include <cmath>

#include "heed/kernels/cpu/states/softmax.h"

namespace heed::kernels::cpu {

template <class V>
class HardState final : public SoftmaxState<V> {
 public:
  using typename RowState<V>::Real;
  using typename RowState<V>::Reg;
  using State = RowState<V>;
  using SoftmaxState<V>::SoftmaxState;

  static constexpr AlignTraits kTraits{.has_log_probability = true, .scores_need_log_probability = true};
  static constexpr bool kDrawsNoise = true;

  void begin(const Block& at, Real, bool known) override {
    SoftmaxState<V>::begin(at, std::numeric_limits<Real>::infinity(), known);
    for (int r = 0; r < at.rows; ++r) State::rows_[r].threshold = State::kNone;  // the largest e (or e + g) so far
  }
  bool rescales() const override { return false; }
  bool reads_values() const override { return false; }

  void update(int row, int rows, int64_t key, int columns, Real* s, Real*) override {
    for (int r = 0; r < rows; ++r, s += kTile) {
      RowStats<Real>& known = State::rows_[row + r];
      for (int c = 0; c < columns; c += kPanel)
        panel(row + r, known, key + c, columns - c < kPanel ? columns - c : kPanel, s + c);
      if (State::p_.with_lse) this->count(known, columns, s);
    }
  }

  void merge(int row, const RowStats<Real>& later, Real*, const Real*) override {
    RowStats<Real>& mine = State::rows_[row];
    if (later.threshold > mine.threshold) {
      mine.threshold = later.threshold;
      mine.key = later.key;
    }
    if (later.kept_share != later.kept_share) mine.kept_share = later.kept_share;
    const Real top = later.max > mine.max ? later.max : mine.max;
    if (top == State::kNone) {  // both have no kept key, or only NaN scores
      mine.sum += later.sum;
      return;
    }
    mine.sum = mine.sum * std::exp2(mine.max - top) + later.sum * std::exp2(later.max - top);
    mine.max = top;
  }

  void finish(int row, const Rows<const Real>& values, Real* context, Real*) override {
    const RowStats<Real>& known = State::rows_[row];
    const int64_t width = State::p_.value_width;
    const bool unknown = known.kept_share != known.kept_share;
    if (known.key < 0 && !unknown) return;
    const Real by = unknown ? known.kept_share : State::steps_.keeps_one(State::at_, row, known.key);
    const Real* value = values.at(State::at_.batch, State::at_.head / State::p_.group(), known.key < 0 ? 0 : known.key);
    for (int64_t i = 0; i < width; ++i) context[i] = unknown ? known.kept_share : by * value[i];
  }

  void normalize_row(int, const RowStats<Real>& known, int64_t key, int columns, Real* s) const override {
    const bool unknown = known.kept_share != known.kept_share;
    for (int c = 0; c < columns; ++c) s[c] = unknown && s[c] != State::kNone ? known.kept_share : Real(0);
    if (!unknown && known.key >= key && known.key < key + columns) s[known.key - key] = 1;
  }
  void distribution(int row, const RowStats<Real>& known, int64_t key, int columns, Real* s) const override {
    State::p_.with_lse ? this->normalize(known, columns, s) : normalize_row(row, known, key, columns, s);
  }

  /// ds = g (1[j = m] - P) + P (dP - delta), g the gradient with respect to the log-probability and m the chosen key;
  /// dP is that of the entropy alone, since the context has no gradient with respect to the scores.
  void gradients(int row, const RowStats<Real>& known, const typename State::RowGradients& given, int64_t key,
                 int columns, Real* s, Real* dp) const override {
    const bool soft = given.log_probability != 0 || given.delta != 0 || given.entropy != 0;
    alignas(64) Real p[kTile];
    for (int c = 0; c < columns; c += V::kLanes) V::store(p + c, soft ? V::load(s + c) : V::zero());
    if (soft) this->normalize(known, columns, p);
    normalize_row(row, known, key, columns, s);
    const Reg log_probability = V::set1(given.log_probability), delta = V::set1(given.delta);
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg weight = V::load(p + c), grad = given.entropy != 0 ? V::load(dp + c) : V::zero();
      const Reg of_choice = V::mul(log_probability, V::sub(V::load(s + c), weight));
      V::store(dp + c, V::add(of_choice, this->times(weight, V::sub(grad, delta))));
    }
  }
  typename State::EntropyGradient entropy_gradient() const override {
    return State::p_.with_lse ? State::EntropyGradient::closed : State::EntropyGradient::none;
  }
  void add_entropy(int row, const RowStats<Real>& known, Real grad, int64_t key, int columns, const Real* s,
                   Real* dp) const override {
    for (int c = 0; c < columns; c += V::kLanes) V::store(dp + c, V::zero());
    SoftmaxState<V>::add_entropy(row, known, grad, key, columns, s, dp);
  }
  void delta_weights(int, const RowStats<Real>& known, int64_t, int columns, Real* s) const override {
    this->normalize(known, columns, s);
  }

 private:
  void panel(int row, RowStats<Real>& known, int64_t key, int columns, const Real* s) {
    Reg m = V::load(s);
    uint32_t bad = V::bits(V::non_finite(m));
    for (int c = V::kLanes; c < columns; c += V::kLanes) {
      const Reg x = V::load(s + c);
      m = V::max(m, x);
      bad |= V::bits(V::non_finite(x));
    }
    if (bad != 0) known.kept_share = std::numeric_limits<Real>::quiet_NaN();
    const Real top = V::reduce_max(m);
    constexpr Real kLargestNoise = Real(16.7);  // -log(-log(1 - 2^-24))
    if (!State::p_.perturb) {
      if (!(top > known.threshold)) return;
      for (int c = 0; c < columns; ++c)
        if (s[c] == top) {
          known.threshold = top;
          known.key = static_cast<int32_t>(key + c);
          return;
        }
      return;
    }
    if (!(top + kLargestNoise > known.threshold)) return;
    alignas(64) Real u[kPanel];
    State::steps_.uniforms(kAlignment, State::at_, row, key, u);
    if (known.threshold == State::kNone) {  // start from two likely winners, so that few other keys need a logarithm
      int largest = 0, luckiest = 0;
      for (int c = 1; c < columns; ++c) {
        largest = s[c] > s[largest] ? c : largest;
        luckiest = u[c] > u[luckiest] ? c : luckiest;
      }
      known.threshold = std::fmax(perturbed(s[largest], u[largest]), perturbed(s[luckiest], u[luckiest]));
      known.threshold -= std::fabs(known.threshold) * Real(1e-5) + Real(1e-5);  // so that the loop below finds them
    }
    // A key wins only if 1 - u <= -log u < exp(e - best): tested with the panel's largest e, then with its own e.
    const Reg one = V::set1(1), best = V::set1(-known.threshold * Real(kLog2E)), slack = V::set1(Real(1.0001));
    const Reg max = V::mul(slack, V::exp2(V::fma(V::set1(top), V::set1(Real(kLog2E)), best)));
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg rest = V::sub(one, V::load(u + c));
      if (V::bits(V::greater(max, rest)) == 0) continue;
      const Reg reach = V::mul(slack, V::exp2(V::fma(V::load(s + c), V::set1(Real(kLog2E)), best)));
      for (uint32_t some = V::bits(V::greater(reach, rest)); some != 0; some &= some - 1) {
        const int i = c + __builtin_ctz(some);
        const Real value = perturbed(s[i], u[i]);
        if (value > known.threshold) {
          known.threshold = value;
          known.key = static_cast<int32_t>(key + i);
        }
      }
    }
  }
  static Real perturbed(Real score, Real u) { return score - std::log(-std::log(u)); }
};

}  // namespace heed::kernels::cpu
