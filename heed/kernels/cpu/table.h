// The one table of kernels: for each kind of score its tile, for each kind of alignment its row state, in the order of
// the enumerations. Engine and callers learn everything else from the traits of these classes.

#pragma once

#include "heed/kernels/cpu/engine/kernel.h"
#include "heed/kernels/cpu/states/filter.h"
#include "heed/kernels/cpu/states/hard.h"
#include "heed/kernels/cpu/states/pointwise.h"
#include "heed/kernels/cpu/states/softmax.h"
#include "heed/kernels/cpu/states/sparse.h"
#include "heed/kernels/cpu/states/uniform.h"
#include "heed/kernels/cpu/tiles/additive.h"
#include "heed/kernels/cpu/tiles/distance.h"
#include "heed/kernels/cpu/tiles/dot.h"
#include "heed/kernels/cpu/tiles/plain.h"

namespace heed::kernels::cpu {

template <class V>
struct Table {
  using Score = ScoreKernel<V>;
  using Align = AlignKernel<V>;

  static constexpr Score kScores[] = {
      Score::template of<DotTile<V>>(ScoreKind::dot),
      Score::template of<AdditiveTile<V>>(ScoreKind::additive),
      Score::template of<HiddenTile<V>>(ScoreKind::hidden),
      Score::template of<DistanceTile<V, false>>(ScoreKind::squared_distance),
      Score::template of<DistanceTile<V, true>>(ScoreKind::distance),
      Score::template of<TableTile<V>>(ScoreKind::table),
  };

  static constexpr Align kAligns[] = {
      Align::template of<SoftmaxState<V>>(AlignKind::softmax),
      Align::template of<ThresholdState<V>>(AlignKind::threshold),
      Align::template of<TopKState<V>>(AlignKind::top_k),
      Align::template of<HardState<V>>(AlignKind::hard),
      Align::template of<StraightThroughState<V>>(AlignKind::straight_through),
      Align::template of<SparsemaxState<V>>(AlignKind::sparsemax),
      Align::template of<EntmaxState<V>>(AlignKind::entmax),
      Align::template of<PointwiseState<V, SigmoidWeight<V>>>(AlignKind::sigmoid),
      Align::template of<PointwiseState<V, IdentityWeight<V>>>(AlignKind::identity),
      Align::template of<UniformState<V>>(AlignKind::uniform),
  };

  static const Score& score_of(const Problem<typename V::Real>& p) {
    return align_of(p).traits.reads_scores ? line(kScores, p.score) : kUnscored;
  }
  /// A score that is not computed still says which keys it has.
  static LaterSteps<typename V::Real> later_of(const Problem<typename V::Real>& p) {
    const auto later = line(kScores, p.score).later(p);
    return align_of(p).traits.reads_scores ? later : LaterSteps<typename V::Real>{Activation::identity, 1, later.keys};
  }
  static const Align& align_of(const Problem<typename V::Real>& p) { return line(kAligns, p.align); }

 private:
  static constexpr Score kUnscored = Score::template of<ZeroTile<V>>({});  // of no kind

  template <class Kernel, size_t kCount, class Kind>
  static const Kernel& line(const Kernel (&all)[kCount], Kind kind) {
    static_assert(ordered(kScores) && ordered(kAligns));
    return all[static_cast<size_t>(kind)];
  }
};

}  // namespace heed::kernels::cpu
