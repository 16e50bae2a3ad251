// The objects of one thread: a score tile, a row state and the steps between them, for one block of queries at a time.

#pragma once

#include "heed/kernels/cpu/table.h"

namespace heed::kernels::cpu {

template <class V>
class Worker {
 public:
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  using Shared = typename ScoreTile<V>::Shared;
  static constexpr int kGroupsMax = kRowsMax / 6;

  explicit Worker(const Shared& shared)
      : p(shared.p), steps(p, shared.later), perturbs(steps.perturbs() && !Table<V>::align_of(p).draws_noise) {
    Table<V>::score_of(p).make(tile_, shared);
    Table<V>::align_of(p).make(state_, p, steps);
    group = (*tile_).group();
  }

  ScoreTile<V>& tile() { return *tile_; }
  RowState<V>& state() { return *state_; }

  /// Moves to a block of queries. known: its RowStats are final, so no bound of the scores is computed.
  void begin(const Block& at, bool known = false) {
    block = at;
    (*tile_).begin(at.batch, at.head, at.query, at.rows);
    (*state_).begin(at, known ? std::numeric_limits<Real>::infinity() : steps.bound((*tile_).bound()), known);
    steps.ranges(at, any, all);
    for (int r = 0, g = 0; r < at.rows; r += group, ++g) steps.ranges(rows_of(r), any_of[g], all_of[g]);
  }
  /// The group of rows that begins at row r.
  Block rows_of(int r) const {
    return {block.batch, block.head, block.query + r, block.rows - r < group ? block.rows - r : group};
  }

  /// Columns of `count` panels from `panel` on.
  int columns(int64_t panel, int count) const {
    const int64_t left = p.keys - (panel + count - 1) * kPanel;
    return (count - 1) * kPanel + (left >= kPanel ? kPanel : static_cast<int>(Panels<V>::padded(left)));
  }

  /// Computes the scores of the group at row r as the alignment reads them. before_activation, before_perturb: receive
  /// copies of the scores before those steps, or null.
  void scores(int r, int64_t panel, int count, Real* s, Real* before_activation = nullptr,
              Real* before_perturb = nullptr) {
    const Block rows = rows_of(r);
    const int n = columns(panel, count);
    const int64_t key = panel * kPanel;
    (*tile_).scores(r, rows.rows, panel, count, s);
    if (steps.has_activation()) {
      if (before_activation != nullptr) copy(s, before_activation, rows.rows, n);
      steps.activation(rows.rows, n, s);
    }
    steps.apply_mask(rows, all_of[r / group], key, n, s);
    if (!perturbs) return;
    if (before_perturb != nullptr) copy(s, before_perturb, rows.rows, n);
    steps.perturb(rows, key, n, s);
  }

  const Problem<Real>& p;
  const Steps<V> steps;
  const bool perturbs;  // whether scores() perturbs: there is a step that does, and the state leaves it to us
  int group = 1;
  Block block{};
  Range any{}, all{}, any_of[kGroupsMax], all_of[kGroupsMax];

 private:
  static void copy(const Real* from, Real* to, int rows, int columns) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; c += V::kLanes) V::store(to + r * kTile + c, V::load(from + r * kTile + c));
  }

  typename ScoreKernel<V>::Storage tile_;
  typename AlignKernel<V>::Storage state_;
};

}  // namespace heed::kernels::cpu
