// Hard: all weight on one key, the best one, or one drawn from softmax(e) as the best of e + g, g = -log(-log u).
//
// A key can win only if u > exp(-exp(e - best)), so with a panel's largest e one comparison of u settles almost every
// key, and logarithms are rare. Beside it runs the normaliser of softmax, where its log-probability is wanted.

#pragma once

#include <cmath>

#include "heed/kernels/fused/state_softmax.h"

namespace heed::kernels::fused {

template <class V>
class HardState final : public SoftmaxState<V> {
 public:
  using typename RowState<V>::Real;
  using typename RowState<V>::Reg;
  using State = RowState<V>;
  using SoftmaxState<V>::SoftmaxState;

  void begin(const Block& at, Real) override {
    SoftmaxState<V>::begin(at, std::numeric_limits<Real>::infinity());
    for (int r = 0; r < at.rows; ++r) State::rows_[r].floor = State::kNone;  // the best so far
  }
  bool rescales() const override { return false; }
  bool reads_values() const override { return false; }

  void absorb(int row, int rows, int64_t key, int columns, Real* s, Real*) override {
    for (int r = 0; r < rows; ++r, s += kTile) {
      Row<Real>& known = State::rows_[row + r];
      for (int c = 0; c < columns; c += kPanel)
        panel(row + r, known, key + c, columns - c < kPanel ? columns - c : kPanel, s + c);
      if (!State::p_.with_lse) continue;
      this->grow(known, State::largest(s, columns));
      const Reg top = this->minus_top(known);
      Reg sum = V::zero();
      for (int c = 0; c < columns; c += V::kLanes) sum = V::add(sum, State::exp_below(V::load(s + c), top));
      known.sum += V::sum(sum);
    }
  }

  void merge(int row, const Row<Real>& later, Real*, const Real*) override {
    Row<Real>& mine = State::rows_[row];
    if (later.floor > mine.floor) {
      mine.floor = later.floor;
      mine.key = later.key;
    }
    if (later.kept != later.kept) mine.kept = later.kept;
    const Real top = later.top > mine.top ? later.top : mine.top;
    if (top == State::kNone) return;
    mine.sum = mine.sum * std::exp2(mine.top - top) + later.sum * std::exp2(later.top - top);
    mine.top = top;
  }

  void finish(int row, const Rows<const Real>& values, Real* context, Real*) override {
    const Row<Real>& known = State::rows_[row];
    const int64_t width = State::p_.value_width;
    const bool unknown = known.kept != known.kept;
    if (known.key < 0 && !unknown) return;
    const Real by = unknown ? known.kept : State::steps_.keeps_one(State::at_, row, known.key);
    const Real* value = values.at(State::at_.batch, State::at_.head / State::p_.group(), known.key < 0 ? 0 : known.key);
    for (int64_t i = 0; i < width; ++i) context[i] = unknown ? known.kept : by * value[i];
  }

  void weigh(int, const Row<Real>& known, int64_t key, int columns, Real* s) const override {
    const bool unknown = known.kept != known.kept;
    for (int c = 0; c < columns; ++c) s[c] = unknown && s[c] != State::kNone ? known.kept : Real(0);
    if (!unknown && known.key >= key && known.key < key + columns) s[known.key - key] = 1;
  }
  void distribution(int row, const Row<Real>& known, int64_t key, int columns, Real* s) const override {
    State::p_.with_lse ? this->normalise(known, columns, s) : weigh(row, known, key, columns, s);
  }

  /// ds = g (1[j = m] - P) by the log-probability; the context itself has no slope by the scores.
  void slopes(int row, const Row<Real>& known, const typename State::Given& given, int64_t key, int columns, Real* s,
              Real* dp) const override {
    const Real log_probability = given.log_probability;
    for (int c = 0; c < columns; ++c) dp[c] = s[c];
    if (log_probability != 0)
      this->normalise(known, columns, dp);
    else
      for (int c = 0; c < columns; ++c) dp[c] = 0;
    weigh(row, known, key, columns, s);
    for (int c = 0; c < columns; ++c) dp[c] = log_probability * (s[c] - dp[c]);
  }

 private:
  void panel(int row, Row<Real>& known, int64_t key, int columns, const Real* s) {
    Reg m = V::load(s);
    uint32_t bad = V::bits(V::poisoned(m));
    for (int c = V::kLanes; c < columns; c += V::kLanes) {
      const Reg x = V::load(s + c);
      m = V::max(m, x);
      bad |= V::bits(V::poisoned(x));
    }
    if (bad != 0) known.kept = std::numeric_limits<Real>::quiet_NaN();
    const Real top = V::top(m);
    constexpr Real kLargestNoise = Real(16.7);  // -log(-log(1 - 2^-24))
    if (!State::p_.perturb) {
      if (!(top > known.floor)) return;
      for (int c = 0; c < columns; ++c)
        if (s[c] == top) {
          known.floor = top;
          known.key = static_cast<int32_t>(key + c);
          return;
        }
      return;
    }
    if (!(top + kLargestNoise > known.floor)) return;
    alignas(64) Real u[kPanel];
    State::steps_.uniforms(kAlignment, State::at_, row, key, u);
    const Real floor = std::exp(-std::exp(top - known.floor)) - Real(1e-6);  // below 0 while there is no best
    for (int c = 0; c < columns; c += V::kLanes)
      for (uint32_t some = V::bits(V::greater(V::load(u + c), V::set1(floor))); some != 0; some &= some - 1) {
        const int i = c + __builtin_ctz(some);
        const Real perturbed = s[i] - std::log(-std::log(u[i]));
        if (perturbed > known.floor) {
          known.floor = perturbed;
          known.key = static_cast<int32_t>(key + i);
        }
      }
  }
};

}  // namespace heed::kernels::fused
