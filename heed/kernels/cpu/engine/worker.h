// The objects of one thread: a score tile, a row state and the steps between them, for one block of queries at a time.

#pragma once

#include <cstddef>
#include <new>

#include "heed/kernels/cpu/states/filter.h"
#include "heed/kernels/cpu/states/hard.h"
#include "heed/kernels/cpu/states/pointwise.h"
#include "heed/kernels/cpu/states/softmax.h"
#include "heed/kernels/cpu/states/sparse.h"
#include "heed/kernels/cpu/tiles/additive.h"
#include "heed/kernels/cpu/tiles/distance.h"
#include "heed/kernels/cpu/tiles/dot.h"
#include "heed/kernels/cpu/tiles/plain.h"

namespace heed::kernels::cpu {

/// Storage for an object of a class derived from Base, without an allocation: a decoder's step is too short for one.
template <class Base, size_t kScratch>
class InPlace {
 public:
  InPlace() = default;
  ~InPlace() { object_->~Base(); }
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

  template <class Kind, class... Arguments>
  void make(const Arguments&... arguments) {
    static_assert(sizeof(Kind) <= kScratch);
    object_ = new (scratch_) Kind(arguments...);
  }
  Base& operator*() { return *object_; }

 private:
  alignas(64) std::byte scratch_[kScratch];
  Base* object_ = nullptr;
};

template <class V>
class Worker {
 public:
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  using Shared = typename ScoreTile<V>::Shared;
  static constexpr int kGroupsMax = kRowsMax / 6;

  explicit Worker(const Shared& shared) : p(shared.p), steps(p, scales(shared.p)) {
    switch (p.score) {
      case ScoreKind::dot:
        tile_.template make<DotTile<V>>(shared);
        break;
      case ScoreKind::additive:
        tile_.template make<AdditiveTile<V>>(shared);
        break;
      case ScoreKind::hidden:
        tile_.template make<HiddenTile<V>>(shared);
        break;
      case ScoreKind::squared_distance:
      case ScoreKind::distance:
        tile_.template make<DistanceTile<V>>(shared);
        break;
      case ScoreKind::table:
        tile_.template make<TableTile<V>>(shared);
        break;
    }
    switch (p.align) {
      case AlignKind::softmax:
        state_.template make<SoftmaxState<V>>(p, steps);
        break;
      case AlignKind::straight_through:
        state_.template make<StraightThroughState<V>>(p, steps);
        break;
      case AlignKind::threshold:
        state_.template make<ThresholdState<V>>(p, steps);
        break;
      case AlignKind::top_k:
        state_.template make<TopKState<V>>(p, steps);
        break;
      case AlignKind::hard:
        state_.template make<HardState<V>>(p, steps);
        break;
      case AlignKind::sparsemax:
      case AlignKind::entmax:
        state_.template make<SparseState<V>>(p, steps);
        break;
      case AlignKind::sigmoid:
      case AlignKind::identity:
        state_.template make<PointwiseState<V>>(p, steps);
        break;
    }
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
    if (!steps.perturbs()) return;
    if (before_perturb != nullptr) copy(s, before_perturb, rows.rows, n);
    if (p.align != AlignKind::hard) steps.perturb(rows, key, n, s);
  }

  const Problem<Real>& p;
  const Steps<V> steps;
  int group = 1;
  Block block{};
  Range any{}, all{}, any_of[kGroupsMax], all_of[kGroupsMax];

 private:
  /// Whether the score tile itself multiplies by Problem::scale.
  static bool scales(const Problem<Real>& p) {
    return p.score == ScoreKind::additive || p.score == ScoreKind::hidden ||
           (p.score == ScoreKind::dot && p.activation == Activation::identity);
  }
  static void copy(const Real* from, Real* to, int rows, int columns) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; c += V::kLanes) V::store(to + r * kTile + c, V::load(from + r * kTile + c));
  }

  InPlace<ScoreTile<V>, 2048> tile_;
  InPlace<RowState<V>, 12288> state_;
};

}  // namespace heed::kernels::cpu
