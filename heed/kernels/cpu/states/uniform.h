// Uniform:   a_j = 1 / n over the n kept keys, whatever their scores
//
// The sum of a row counts its kept keys. Scores are not computed: the tile holds the biases alone, of which only -inf
// matters, since it masks its key. Nothing but the values gets a gradient.

#pragma once

#include <cmath>

#include "heed/kernels/cpu/states/row_state.h"

namespace heed::kernels::cpu {

template <class V>
class UniformState final : public RowState<V> {
 public:
  using typename RowState<V>::Real;
  using typename RowState<V>::Reg;
  using State = RowState<V>;
  using State::State;

  static constexpr AlignTraits kTraits{.reads_scores = false, .has_lse = false};

  void update(int row, int rows, int64_t, int columns, Real* s, Real*) override {
    for (int r = 0; r < rows; ++r, s += kTile) {
      Reg sum = V::zero();
      for (int c = 0; c < columns; c += V::kLanes) {
        const Reg one = kept(V::load(s + c), V::set1(1));
        sum = V::add(sum, one);
        V::store(s + c, one);
      }
      State::rows_[row + r].sum += V::sum(sum);
    }
  }
  void merge(int row, const RowStats<Real>& later, Real* context, const Real* later_context) override {
    State::rows_[row].sum += later.sum;
    State::add_row(context, State::p_.value_width, later_context, 1);
  }
  void finish(int row, const Rows<const Real>&, Real* context, Real*) override {
    const Real sum = State::rows_[row].sum;
    if (sum != 0) State::scale_row(context, State::p_.value_width, 1 / sum);
  }

  void normalize_row(int, const RowStats<Real>& known, int64_t, int columns, Real* s) const override {
    const Reg share = V::set1(known.sum == 0 ? Real(0) : 1 / known.sum);
    for (int c = 0; c < columns; c += V::kLanes) V::store(s + c, kept(V::load(s + c), share));
  }
  Real log_weight(int, const RowStats<Real>& known, int64_t, Real) const override { return -std::log(known.sum); }

  void gradients(int row, const RowStats<Real>& known, const typename State::RowGradients&, int64_t key, int columns,
                 Real* s, Real* dp) const override {
    normalize_row(row, known, key, columns, s);
    for (int c = 0; c < columns; c += V::kLanes) V::store(dp + c, V::zero());
  }

  typename State::EntropyGradient entropy_gradient() const override { return State::EntropyGradient::none; }
  typename State::PairShares pair_gradients(int, const RowStats<Real>&, int64_t, Real, bool) const override {
    return {};
  }

 private:
  static Reg kept(Reg e, Reg weight) { return V::select(V::equal(e, V::set1(State::kNone)), V::zero(), weight); }
};

}  // namespace heed::kernels::cpu
