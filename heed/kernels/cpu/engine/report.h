// Outputs requested in addition to the context: a second pass over the requested tiles, from the RowStats of forward.

#pragma once

#include "heed/kernels/cpu/engine/sweep.h"

namespace heed::kernels::cpu {

template <class V>
class Report : private Sweep<V> {
 public:
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  using Base = Sweep<V>;

  Report(const Problem<Real>& p, const RequestedOutputs<Real>& want, const ParallelFor& parallel_for)
      : Base(p, parallel_for), w_(want) {}

  void run() {
    of_rows();
    if (w_.weights != nullptr) weights();
    if (w_.entropy != nullptr || w_.top > 0) whole_rows();
    if (w_.column_mass != nullptr) column_mass();
    if (w_.link_count > 0) links();
  }

 private:
  using Base::p_;

  /// lse, which RowStats alone determine, and the log-probability of the chosen key.
  void of_rows() {
    const int64_t rows = p_.batch * p_.heads * p_.queries;
    Worker<V> work(Base::shared_);
    for (int64_t i = 0; i < rows && w_.lse != nullptr; ++i)
      w_.lse[i] = Base::align_.traits.has_lse ? work.state().lse(p_.rows[i]) : RowState<V>::kNone;
    if (w_.log_probability == nullptr) return;
    Base::each(p_.batch * p_.heads, [&](int64_t head) {
      Worker<V> own(Base::shared_);
      typename Base::Pairs pairs(*this, own);
      for (int64_t query = 0; query < p_.queries; ++query) {
        const int64_t i = head * p_.queries + query;
        const RowStats<Real>& known = p_.rows[i];
        if (known.kept_share != known.kept_share)
          w_.log_probability[i] = known.kept_share;
        else
          w_.log_probability[i] =
              known.key < 0 ? Real(0) : log_weight(own, pairs, {head / p_.heads, head % p_.heads, query, 1}, known.key);
      }
    });
  }

  Real log_weight(Worker<V>& work, typename Base::Pairs& pairs, const Block& wanted, int64_t key) const {
    const Real score = pairs.score(wanted, key);
    if (score == RowState<V>::kNone) return score;
    return work.state().log_weight(pairs.row(), p_.rows[Base::row(wanted)], key, score);
  }

  void weights() {
    const int64_t heads = w_.head_count > 0 ? w_.head_count : p_.heads;
    const int64_t rows = w_.query_count > 0 ? w_.query_count : p_.queries;
    const auto query_of = [&](int64_t i) { return w_.query_count > 0 ? w_.some_queries[i] : i; };
    Base::each(p_.batch * heads * ((rows + kBlock - 1) / kBlock), [&](int64_t task) {
      const int64_t parts = (rows + kBlock - 1) / kBlock, b = task / parts / heads, which = task / parts % heads;
      const int64_t head = w_.head_count > 0 ? w_.some_heads[which] : which,
                    last = Base::min_of(rows, (task % parts + 1) * kBlock);
      Worker<V> work(Base::shared_);
      for (int64_t i = task % parts * kBlock; i < last;) {
        int run = 1;  // consecutive queries share a block
        while (i + run < last && query_of(i + run) == query_of(i) + run) ++run;
        const Block wanted{b, head, query_of(i), run}, at = Base::around(wanted, work);
        const int first = static_cast<int>(wanted.query - at.query);
        Real* to = w_.weights + ((b * heads + which) * rows + i) * p_.keys;
        for (int64_t j = 0; j < run * p_.keys; ++j) to[j] = 0;
        work.begin(at, true);
        Base::sweep(work, first, run, [&](int r, int64_t key, int columns, Real* s) {
          work.state().normalize_row(r, p_.rows[Base::row(at) + r], key, columns, s);
          Real* row = to + (r - first) * p_.keys + key;
          for (int c = 0; c < columns && key + c < p_.keys; ++c) row[c] = s[c];
        });
        i += run;
      }
    });
  }

  /// Entropy and the largest weights.
  void whole_rows() {
    const int64_t blocks = (p_.queries + kBlock - 1) / kBlock, top = w_.top;
    Base::each(p_.batch * p_.heads * blocks, [&](int64_t task) {
      Worker<V> work(Base::shared_);
      const Block at = Base::block_of(task / blocks, task % blocks);
      const int64_t index = Base::row(at);
      for (int r = 0; r < at.rows; ++r) {
        if (w_.entropy != nullptr) w_.entropy[index + r] = 0;
        for (int64_t i = 0; i < top; ++i) {
          w_.top_weights[(index + r) * top + i] = 0;
          w_.top_keys[(index + r) * top + i] = -1;
        }
      }
      work.begin(at, true);
      Base::sweep(work, 0, at.rows, [&](int r, int64_t key, int columns, Real* s) {
        const RowStats<Real>& known = p_.rows[index + r];
        if (w_.entropy != nullptr) w_.entropy[index + r] += work.state().entropy(r, known, key, columns, s);
        if (top == 0) return;
        work.state().normalize_row(r, known, key, columns, s);
        for (int c = 0; c < columns && key + c < p_.keys; ++c)
          if (s[c] != 0) insert(s[c], key + c, w_.top_weights + (index + r) * top, w_.top_keys + (index + r) * top);
      });
    });
  }
  void insert(Real weight, int64_t key, Real* weights, int64_t* keys) const {
    int64_t i = w_.top;
    while (i > 0 && (keys[i - 1] < 0 || weight > weights[i - 1])) --i;
    if (i == w_.top) return;
    for (int64_t j = w_.top - 1; j > i; --j) {
      weights[j] = weights[j - 1];
      keys[j] = keys[j - 1];
    }
    weights[i] = weight;
    keys[i] = key;
  }

  /// A task is a tile of keys and sums over all queries.
  void column_mass() {
    const int64_t tiles = (p_.keys + kTile - 1) / kTile;
    Base::each(p_.batch * p_.heads * tiles, [&](int64_t task) {
      Worker<V> work(Base::shared_);
      const int64_t head = task / tiles, key = task % tiles * kTile, last = Base::min_of(p_.keys, key + kTile);
      Real* s = static_cast<Real*>(scratch(Slot::tile, static_cast<size_t>(work.group * kTile) * sizeof(Real)));
      alignas(64) Real sum[kTile] = {};
      const int count = static_cast<int>((last - key + kPanel - 1) / kPanel);
      for (int64_t block = 0; block * kBlock < p_.queries; ++block) {
        const Block at = Base::block_of(head, block);
        work.begin(at, true);
        if (work.any.first >= last || work.any.last <= key) continue;
        for (int r = 0; r < at.rows; r += work.group) {
          work.scores(r, key / kPanel, count, s);
          const int n = work.columns(key / kPanel, count);
          for (int i = 0; i < work.rows_of(r).rows; ++i) {
            Real* row = s + i * kTile;
            work.state().normalize_row(r + i, p_.rows[Base::row(at) + r + i], key, n, row);
            for (int c = 0; c < n; c += V::kLanes) V::store(sum + c, V::add(V::load(sum + c), V::load(row + c)));
          }
        }
      }
      for (int64_t c = 0; c < last - key; ++c) w_.column_mass[head * p_.keys + key + c] = sum[c];
    });
  }

  void links() {
    constexpr int64_t kAtOnce = 64;
    Base::each((w_.link_count + kAtOnce - 1) / kAtOnce, [&](int64_t task) {
      Worker<V> work(Base::shared_);
      typename Base::Pairs pairs(*this, work);
      for (int64_t i = task * kAtOnce; i < Base::min_of(w_.link_count, (task + 1) * kAtOnce); ++i) {
        const int64_t* link = w_.links + 4 * i;
        w_.link_log_weights[i] = log_weight(work, pairs, {link[0], link[1], link[2], 1}, link[3]);
      }
    });
  }

  const RequestedOutputs<Real>& w_;
};

}  // namespace heed::kernels::cpu
