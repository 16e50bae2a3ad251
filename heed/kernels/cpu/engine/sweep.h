// Passes over the scores of some rows, after forward: for what is computed from known RowStats.

#pragma once

#include "heed/kernels/cpu/engine/engine.h"

namespace heed::kernels::cpu {

template <class V>
class Sweep : protected Engine<V> {
 public:
  using Real = typename V::Real;
  using Base = Engine<V>;
  using Base::Base;

 protected:
  /// `at` widened to whole groups if they decide by which formula scores are computed: bits are then those of forward.
  Block around(const Block& at, const Worker<V>& work) const {
    if (!Base::score_.formula_of_group) return at;
    const int64_t query = at.query / work.group * work.group;
    const int64_t end = Base::min_of(Base::p_.queries, (at.query + at.rows + work.group - 1) / work.group * work.group);
    return {at.batch, at.head, query, static_cast<int>(end - query)};
  }

  /// Calls take(row of the block, key, columns, scores) for rows first ... first + rows - 1, tile by tile.
  template <class Take>
  void sweep(Worker<V>& work, int first, int rows, Take take) const {
    Real* s = static_cast<Real*>(scratch(Slot::tile, static_cast<size_t>(work.group * kTile) * sizeof(Real)));
    const int64_t begin = work.any.first / kPanel * kPanel;
    for (int64_t tile = begin; tile < work.any.last; tile += kTile)
      for (int r = 0; r < work.block.rows; r += work.group) {
        if (r + work.group <= first || r >= first + rows) continue;
        const int64_t panel = tile / kPanel, end = Base::min_of(tile + kTile, work.any.last);
        const int count = static_cast<int>((end - 1) / kPanel + 1 - panel), n = work.columns(panel, count);
        work.scores(r, panel, count, s);
        for (int i = r; i < r + work.group && i < first + rows; ++i)
          if (i >= first) take(i, tile, n, s + (i - r) * kTile);
      }
  }

  /// Scores one pair at a time, from the panel that contains its key. Pairs that follow each other and have the panel
  /// and the rows in common are scored together.
  class Pairs {
   public:
    Pairs(const Sweep& sweep, Worker<V>& work) : sweep_(sweep), work_(work) {}
    /// -inf if the query may not attend the key. Moves the worker to a block in which row() is the row of the query.
    Real score(const Block& wanted, int64_t key) {
      const Block at = sweep_.around(wanted, work_);
      const bool moves =
          panel_ < 0 || at.query != work_.block.query || at.head != work_.block.head || at.batch != work_.block.batch;
      if (moves) work_.begin(at, true);
      if (moves || panel_ != key / kPanel) work_.scores(0, panel_ = key / kPanel, 1, s_);
      row_ = static_cast<int>(wanted.query - at.query);
      return s_[row_ * kTile + key % kPanel];
    }
    int row() const { return row_; }

   private:
    const Sweep& sweep_;
    Worker<V>& work_;
    int64_t panel_ = -1;
    int row_ = 0;
    alignas(64) Real s_[kLongTile];
  };
};

}  // namespace heed::kernels::cpu
