// Elementwise weights:   sigmoid   a = 1 / (1 + exp(-e))        identity   a = e
// Nothing is normalized, so RowStats are not used.

#pragma once

#include <cmath>

#include "heed/kernels/cpu/states/row_state.h"

namespace heed::kernels::cpu {

template <class V>
struct SigmoidWeight {
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  static Reg of(Reg e) { return Functions<V>::sigmoid(e); }
  static Reg grad_score(Reg a, Reg grad) { return V::mul(V::fnma(a, a, a), grad); }
  /// -log(1 + exp(-e)), also where the weight itself underflows.
  static Real log(Real e) { return e < 0 ? e - std::log1p(std::exp(e)) : -std::log1p(std::exp(-e)); }
  static Real grad_log(Real e) { return 1 / (1 + std::exp(e)); }  // 1 - a
};

template <class V>
struct IdentityWeight {
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  static Reg of(Reg e) { return V::select(V::equal(e, V::set1(RowState<V>::kNone)), V::zero(), e); }
  static Reg grad_score(Reg, Reg grad) { return grad; }
  static Real log(Real e) { return std::log(e); }
  static Real grad_log(Real e) { return e > 0 ? 1 / e : Real(0); }
};

template <class V, class Weight>
class PointwiseState final : public RowState<V> {
 public:
  using typename RowState<V>::Real;
  using typename RowState<V>::Reg;
  using State = RowState<V>;
  using State::State;

  static constexpr AlignTraits kTraits{.has_lse = false};

  void update(int, int rows, int64_t, int columns, Real* s, Real*) override {
    for (int r = 0; r < rows; ++r, s += kTile) weights(columns, s);
  }
  void merge(int, const RowStats<Real>&, Real* context, const Real* later_context) override {
    State::add_row(context, State::p_.value_width, later_context, 1);
  }
  void finish(int, const Rows<const Real>&, Real*, Real*) override {}
  void normalize_row(int, const RowStats<Real>&, int64_t, int columns, Real* s) const override { weights(columns, s); }

  Real log_weight(int, const RowStats<Real>&, int64_t, Real score) const override { return Weight::log(score); }

  /// ds = a (1 - a) dP, or dP
  void gradients(int, const RowStats<Real>&, const typename State::RowGradients&, int64_t, int columns, Real* s,
                 Real* dp) const override {
    const Reg none = V::set1(State::kNone);
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg e = V::load(s + c), a = Weight::of(e);
      V::store(dp + c, V::select(V::equal(e, none), V::zero(), Weight::grad_score(a, V::load(dp + c))));
      V::store(s + c, a);
    }
  }

  typename State::PairShares pair_gradients(int, const RowStats<Real>&, int64_t, Real score,
                                            bool of_log) const override {
    if (of_log) return {Weight::grad_log(score), 0, 0};
    alignas(64) Real one[kPad];
    V::store(one, Weight::grad_score(Weight::of(V::set1(score)), V::set1(1)));
    return {one[0], 0, 0};
  }

 private:
  static void weights(int columns, Real* s) {
    for (int c = 0; c < columns; c += V::kLanes) V::store(s + c, Weight::of(V::load(s + c)));
  }
};

}  // namespace heed::kernels::cpu
