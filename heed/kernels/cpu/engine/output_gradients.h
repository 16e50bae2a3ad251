// Backward of requested outputs. A loss that depends on weights, entropy, column mass, largest weights or links adds
//
//   G_ij = dL/da_ij        to the gradients dP_ij of the weights, without dropout
//   sum_j u_ij G_ij        to the row's delta; u are the weights themselves, or those that the alignment names
//                          (delta_weights)
//
// Weights, column mass and entropy are dense: their G is added tile by tile, and their share of delta takes a pass over
// the rows concerned. The entropy of softmax has a share in closed form, dL/dH H, if its reported value is given.
// Links and largest weights are pairs: each is scored once, before the tiles, and adds one number to delta and one to
// the gradients of the scores. The logarithm of a softmax weight has the gradient 1[j = k] - P_k with respect to score
// k, which does not contain the weight itself: it may have underflowed to 0.

#pragma once

#include "heed/kernels/cpu/engine/indexed_gradients.h"
#include "heed/kernels/cpu/engine/sweep.h"

namespace heed::kernels::cpu {

template <class V>
class OutputGradients : protected Sweep<V> {
 public:
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  using Base = Sweep<V>;

  OutputGradients(const Problem<Real>& p, const IndexedGradients<Real>& in, const ParallelFor& parallel_for)
      : Base(p, parallel_for),
        in_(in),
        entropy_(in.entropy == nullptr ? EntropyGradient::none : Worker<V>(Base::shared_).state().entropy_gradient()) {}

 protected:
  using Base::p_;

  /// Whether there is any; if not, none of the functions below may be called.
  bool given() const {
    return in_.weights != nullptr || entropy_ != EntropyGradient::none || in_.column_mass != nullptr ||
           in_.pair_count > 0;
  }

  /// Adds the shares of all rows to delta, and scores the pairs.
  void prepare(Real* delta) {
    const int64_t rows = p_.batch * p_.heads * p_.queries;
    const bool closed = entropy_ == EntropyGradient::closed && in_.reported_entropy != nullptr;
    for (int64_t i = 0; closed && i < rows; ++i) delta[i] += in_.entropy[i] * in_.reported_entropy[i];
    sweeps_entropy_ = entropy_ != EntropyGradient::none && !closed;
    if (in_.weights != nullptr || in_.column_mass != nullptr || sweeps_entropy_) sweep_rows(delta);
    if (in_.pair_count > 0) score_pairs(delta);
  }

  /// dL/dH of a row.
  Real grad_entropy(int64_t row) const { return entropy_ == EntropyGradient::none ? Real(0) : in_.entropy[row]; }

  /// Adds G of the dense outputs to dp, for keys key ... key + columns - 1. s: scores; r: row of the worker's block.
  void add_to_weights(Worker<V>& work, int r, int64_t row, int64_t key, int columns, const Real* s, Real* dp,
                      bool with_entropy = true) const {
    const int64_t left = p_.keys - key, n = columns < left ? columns : left, head = row / p_.queries;
    if (in_.column_mass != nullptr) add(in_.column_mass + head * p_.keys + key, n, dp);
    if (in_.weights != nullptr) each_selected(row, [&](const Real* grads) { add(grads + key, n, dp); });
    if (with_entropy && grad_entropy(row) != 0)
      work.state().add_entropy(r, p_.rows[row], grad_entropy(row), key, columns, s, dp);
  }

  /// Adds what pairs contribute to the gradients ds of the scores.
  void add_to_scores(int64_t row, int64_t key, int columns, Real* ds) const {
    if (in_.pair_count == 0) return;
    int64_t i = in_.pair_start[row], last = in_.pair_start[row + 1];
    const int64_t end = last;
    while (i < last) {  // the first pair of a key at or after `key`
      const int64_t middle = i + (last - i) / 2;
      if (in_.pairs[middle].key < key)
        i = middle + 1;
      else
        last = middle;
    }
    for (; i < end && in_.pairs[i].key < key + columns; ++i) ds[in_.pairs[i].key - key] += pair_scores_[i];
  }

  /// What pairs contribute to the gradient of a row's position.
  Real grad_position(int64_t row) const { return in_.pair_count == 0 ? Real(0) : pair_position_[row]; }

 private:
  using EntropyGradient = typename RowState<V>::EntropyGradient;

  /// Calls take(gradients of the row's weights, [keys]) for each time that the row is selected.
  template <class Take>
  void each_selected(int64_t row, Take take) const {
    const int64_t query = row % p_.queries, head = row / p_.queries % p_.heads, b = row / p_.queries / p_.heads;
    const Range of_head = occurrences(in_.heads, head), of_query = occurrences(in_.queries, query);
    for (int64_t i = of_head.first; i < of_head.last; ++i)
      for (int64_t j = of_query.first; j < of_query.last; ++j) {
        const int64_t at = in_.heads.start == nullptr ? i : in_.heads.items[i];
        const int64_t which = in_.queries.start == nullptr ? j : in_.queries.items[j];
        take(in_.weights + ((b * in_.head_count + at) * in_.query_count + which) * p_.keys);
      }
  }
  static Range occurrences(const Occurrences& in, int64_t index) {
    return in.start == nullptr ? Range{index, index + 1} : Range{in.start[index], in.start[index + 1]};
  }

  static void add(const Real* from, int64_t n, Real* to) {
    int64_t c = 0;
    for (; c + V::kLanes <= n; c += V::kLanes) V::store(to + c, V::add(V::load(to + c), V::load(from + c)));
    if (c < n) V::store(to + c, V::add(V::load(to + c), V::load_some(from + c, n - c)));
  }

  bool needs_sweep(int64_t row) const {
    if (in_.column_mass != nullptr || (sweeps_entropy_ && in_.entropy[row] != 0)) return true;
    bool selected = false;
    if (in_.weights != nullptr) each_selected(row, [&](const Real*) { selected = true; });
    return selected;
  }

  /// delta += sum_j u_j G_j of the dense outputs; consecutive rows share a block.
  void sweep_rows(Real* delta) const {
    const int64_t blocks = (p_.queries + kBlock - 1) / kBlock;
    Base::each(p_.batch * p_.heads * blocks, [&](int64_t task) {
      const Block block = Base::block_of(task / blocks, task % blocks);
      const int64_t first_row = Base::row(block);
      Worker<V> work(Base::shared_);
      for (int r = 0; r < block.rows;) {
        int run = 0;
        while (r + run < block.rows && needs_sweep(first_row + r + run)) ++run;
        if (run > 0) sweep_run(work, {block.batch, block.head, block.query + r, run}, delta);
        r += run + 1;
      }
    });
  }
  void sweep_run(Worker<V>& work, const Block& wanted, Real* delta) const {
    const Block at = Base::around(wanted, work);
    work.begin(at, true);
    Base::sweep(work, static_cast<int>(wanted.query - at.query), wanted.rows,
                [&](int r, int64_t key, int columns, Real* s) {
                  const int64_t row = Base::row(at) + r;
                  alignas(64) Real grads[kTile];
                  Base::clear(grads, columns);
                  add_to_weights(work, r, row, key, columns, s, grads, sweeps_entropy_);
                  work.state().delta_weights(r, p_.rows[row], key, columns, s);
                  Reg sum = V::zero();
                  for (int c = 0; c < columns; c += V::kLanes) {
                    const Reg u = V::load(s + c), part = V::mul(u, V::load(grads + c));
                    sum = V::add(sum, V::select(V::equal(u, V::zero()), V::zero(), part));
                  }
                  delta[row] += V::sum(sum);
                });
  }

  void score_pairs(Real* delta) {
    const int64_t rows = p_.batch * p_.heads * p_.queries, blocks = (p_.queries + kBlock - 1) / kBlock;
    pair_scores_ = Base::buffer(scores_buffer_, in_.pair_count);
    pair_position_ = Base::buffer(position_buffer_, rows);
    Base::each(p_.batch * p_.heads * blocks, [&](int64_t task) {
      const Block block = Base::block_of(task / blocks, task % blocks);
      const int64_t first = Base::row(block), last = first + block.rows;
      for (int64_t row = first; row < last; ++row) pair_position_[row] = 0;
      if (in_.pair_start[first] == in_.pair_start[last]) return;
      Worker<V> work(Base::shared_);
      typename Base::Pairs pairs(*this, work);
      for (int64_t row = first; row < last; ++row)
        for (int64_t i = in_.pair_start[row]; i < in_.pair_start[row + 1]; ++i) {
          const PairGradient<Real>& pair = in_.pairs[i];
          const Real score = pairs.score({block.batch, block.head, block.query + (row - first), 1}, pair.key);
          pair_scores_[i] = 0;
          if (score == RowState<V>::kNone) continue;  // masked: its gradient is not read
          const auto to = work.state().pair_gradients(pairs.row(), p_.rows[row], pair.key, score, pair.of_log);
          if (to.score == 0) continue;  // the weight is 0
          pair_scores_[i] = to.score * pair.grad;
          delta[row] += to.delta * pair.grad;
          pair_position_[row] += to.position * pair.grad;
        }
    });
  }

  const IndexedGradients<Real>& in_;
  EntropyGradient entropy_;
  bool sweeps_entropy_ = false;  // its share of delta takes a pass
  Buffer scores_buffer_, position_buffer_;
  Real *pair_scores_ = nullptr, *pair_position_ = nullptr;  // of each pair; of each row
};

}  // namespace heed::kernels::cpu
