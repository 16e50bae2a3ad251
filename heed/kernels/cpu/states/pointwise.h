// Elementwise weights:   sigmoid   a = 1 / (1 + exp(-e))        identity   a = e
// Nothing is normalized, so RowStats are not used.

#pragma once

#include <cmath>

#include "heed/kernels/cpu/states/row_state.h"

namespace heed::kernels::cpu {

template <class V>
class PointwiseState final : public RowState<V> {
 public:
  using typename RowState<V>::Real;
  using typename RowState<V>::Reg;
  using State = RowState<V>;
  using F = Functions<V>;
  using State::State;

  void update(int, int rows, int64_t, int columns, Real* s, Real*) override {
    for (int r = 0; r < rows; ++r, s += kTile) weights(columns, s);
  }
  void merge(int, const RowStats<Real>&, Real* context, const Real* later_context) override {
    State::add_row(context, State::p_.value_width, later_context, 1);
  }
  void finish(int, const Rows<const Real>&, Real*, Real*) override {}
  void normalize_row(int, const RowStats<Real>&, int64_t, int columns, Real* s) const override { weights(columns, s); }

  /// log a = -log(1 + exp(-e)), also where a itself underflows.
  Real log_weight(int row, const RowStats<Real>& known, int64_t key, Real score) const override {
    if (!sigmoid()) return State::log_weight(row, known, key, score);
    return score < 0 ? score - std::log1p(std::exp(score)) : -std::log1p(std::exp(-score));
  }

  /// ds = a (1 - a) dP, or dP
  void gradients(int, const RowStats<Real>&, const typename State::RowGradients&, int64_t, int columns, Real* s,
                 Real* dp) const override {
    const Reg none = V::set1(State::kNone);
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg e = V::load(s + c), a = weight(e);
      const Reg grad = sigmoid() ? V::mul(V::fnma(a, a, a), V::load(dp + c)) : V::load(dp + c);
      V::store(dp + c, V::select(V::equal(e, none), V::zero(), grad));
      V::store(s + c, a);
    }
  }

 private:
  bool sigmoid() const { return State::p_.align == AlignKind::sigmoid; }
  Reg weight(Reg e) const {
    return sigmoid() ? F::sigmoid(e) : V::select(V::equal(e, V::set1(State::kNone)), V::zero(), e);
  }
  void weights(int columns, Real* s) const {
    for (int c = 0; c < columns; c += V::kLanes) V::store(s + c, weight(V::load(s + c)));
  }
};

}  // namespace heed::kernels::cpu
