// A line of the table (table.h): what the engine asks of a score tile or a row state before there is an object of it.
// Everything comes from the static members of the class; score_tile.h and row_state.h have the defaults.

#pragma once

#include "heed/kernels/cpu/engine/in_place.h"
#include "heed/kernels/cpu/states/row_state.h"
#include "heed/kernels/cpu/tiles/score_tile.h"

namespace heed::kernels::cpu {

template <class V>
struct ScoreKernel {
  using Real = typename V::Real;
  using Tile = ScoreTile<V>;
  using Storage = InPlace<Tile, 2048>;

  ScoreKind kind;
  ScoreTraits traits;
  Packing packing;
  bool formula_of_group;
  LaterSteps<Real> (*later)(const Problem<Real>&);
  int64_t (*head_numbers)(const Problem<Real>&);
  void (*fold)(const Problem<Real>&, int64_t head, Real* to);
  int64_t (*panel_numbers)(const Problem<Real>&);
  void (*pack)(const Problem<Real>&, const typename Tile::PanelKeys&, Real* to, Real* numbers);
  void (*make)(Storage&, const typename Tile::Shared&);

  template <class T>
  static constexpr ScoreKernel of(ScoreKind kind) {
    return {kind,    T::kTraits,       T::kPacking, T::kFormulaOfGroup, T::later, T::head_numbers,
            T::fold, T::panel_numbers, T::pack,     make_tile<T>};
  }

 private:
  template <class T>
  static void make_tile(Storage& storage, const typename Tile::Shared& shared) {
    storage.template make<T>(shared);
  }
};

template <class V>
struct AlignKernel {
  using Real = typename V::Real;
  using Storage = InPlace<RowState<V>, 12288>;

  AlignKind kind;
  AlignTraits traits;
  bool draws_noise;
  void (*make)(Storage&, const Problem<Real>&, const Steps<V>&);

  template <class State>
  static constexpr AlignKernel of(AlignKind kind) {
    return {kind, State::kTraits, State::kDrawsNoise, make_state<State>};
  }

 private:
  template <class State>
  static void make_state(Storage& storage, const Problem<Real>& p, const Steps<V>& steps) {
    storage.template make<State>(p, steps);
  }
};

/// Whether line i of a table is that of kind i.
template <class Kernel, size_t kCount>
constexpr bool ordered(const Kernel (&all)[kCount]) {
  for (size_t i = 0; i < kCount; ++i)
    if (static_cast<size_t>(all[i].kind) != i) return false;
  return true;
}

}  // namespace heed::kernels::cpu
