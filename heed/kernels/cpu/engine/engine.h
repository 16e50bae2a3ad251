// The engine: the loop over blocks of queries and tiles of keys. It handles ranges of keys, chunks and threads; scores
// are computed by a score tile, weights by a row state. Sizes alone decide how work is split, and partial results are
// merged in order, so the bits do not depend on the number of threads.

#pragma once

#include "heed/kernels/cpu/engine/worker.h"
#include "heed/kernels/cpu/tiles/product.h"

namespace heed::kernels::cpu {

inline constexpr int kBlock = 48;  // queries of a block, which visits the tiles of keys together

template <class V>
class Engine {
 public:
  using Real = typename V::Real;
  using Reg = typename V::Reg;

  Engine(const Problem<Real>& p, const ParallelFor& parallel_for)
      : p_(p),
        parallel_for_(parallel_for),
        score_(Table<V>::score_of(p)),
        align_(Table<V>::align_of(p)),
        shared_{p, Table<V>::later_of(p)} {
    fold();
    const bool many = p.queries * p.group() >= kFewQueries;
    if (score_.packing == Packing::always || (score_.packing == Packing::for_many_queries && many)) pack();
  }

  void forward() {
    // A single query reads no key outside its range; only `keep` masks keys inside it.
    if (p_.mask.keep || (p_.mask.any() && p_.queries > 1)) look_at_values();
    const int64_t blocks = (p_.queries + kBlock - 1) / kBlock, all = p_.batch * p_.heads * blocks;
    const int64_t parts = Worker<V>(shared_).state().splits() ? key_parts(all) : 1;
    if (parts > 1) return forward_split(blocks, parts);
    each(all, [&](int64_t task) {
      Worker<V> work(shared_);
      const Block at = block_of(task / blocks, blocks - 1 - task % blocks);  // causal: longest task first
      Real *context = p_.context + row(at) * p_.value_width, *second = second_of(at);
      work.begin(at);
      attend(work, {0, p_.keys}, context, second);
      finish(work, context, second);
    });
  }

 protected:
  // ---- prepared once per call

  template <class F>
  void each(int64_t tasks, F body) const {
    run_tasks(
        parallel_for_, tasks, [](void* f, int64_t task) { (*static_cast<F*>(f))(task); }, &body);
  }
  static Real* buffer(Buffer& buffer, int64_t numbers) {
    return static_cast<Real*>(buffer.reserve(static_cast<size_t>(numbers) * sizeof(Real)));
  }

  void fold() {
    const int64_t step = score_.head_numbers(p_);
    if (step == 0) return;
    Real* to = buffer(head_numbers_, p_.heads * step);
    for (int64_t h = 0; h < p_.heads; ++h) score_.fold(p_, h, to + h * step);
    shared_.head_numbers = to;
  }

  void pack() {
    const int64_t count = (p_.keys + kPanel - 1) / kPanel, heads = p_.batch * p_.key_heads;
    const int64_t features = Panels<V>::by_four(p_.width), numbers = score_.panel_numbers(p_);
    shared_.panels_step = Panels<V>::padded(p_.keys) * features;
    shared_.panel_numbers_step = numbers;
    Real *to = buffer(panels_, heads * shared_.panels_step), *found = buffer(panel_numbers_, heads * count * numbers);
    each(heads * count, [&](int64_t task) {
      const int64_t which = task / count, panel = task % count, b = which / p_.key_heads, h = which % p_.key_heads;
      const int64_t key = panel * kPanel, n = min_of(kPanel, p_.keys - key);
      score_.pack(p_, {p_.key_rows.at(b, h, key), n, min_of(n, reachable(b) - key)},
                  to + which * shared_.panels_step + key * features, found + task * numbers);
    });
    shared_.panels = to;
    shared_.panel_numbers = found;
  }
  /// Number of keys that may be attended; keys from here on are padding and are not read.
  int64_t reachable(int64_t batch) const {
    const int64_t* count = p_.mask.key_count;
    return count == nullptr || count[batch] > p_.keys ? p_.keys : count[batch];
  }

  // ---- forward

  Block block_of(int64_t head, int64_t block) const {
    const int64_t query = block * kBlock, left = p_.queries - query;
    return {head / p_.heads, head % p_.heads, query, static_cast<int>(left < kBlock ? left : kBlock)};
  }
  int64_t row(const Block& at) const { return p_.row_index(at.batch, at.head, at.query); }
  Real* second_of(const Block& at) const {
    return p_.second == nullptr ? nullptr : p_.second + row(at) * p_.value_width;
  }

  /// Number of chunks that keys are split into: more than 1 if there are few blocks.
  int64_t key_parts(int64_t blocks) const {
    const int64_t max = p_.keys / 1024, wanted = 64 / (blocks > 0 ? blocks : 1);
    return max < 1 || wanted < 1 ? 1 : wanted < max ? wanted : max;
  }

  /// Runs the block of queries that `work` is at over the keys of `span`.
  void attend(Worker<V>& work, Range span, Real* context, Real* second) const {
    RowState<V>& state = work.state();
    const int rows = work.block.rows, group = work.group;
    const int64_t width = p_.value_width, step = rows == 1 ? group * kTile : kTile;
    clear(context, rows * width);
    if (second != nullptr) clear(second, rows * width);
    Real* s = static_cast<Real*>(scratch(Slot::tile, static_cast<size_t>(group * kTile) * 2 * sizeof(Real)));
    Real* also = s + group * kTile;
    Real factor[kRowsMax];
    Real minus_top = 0;
    const bool fuses_exp2 = work.steps.silent() && work.tile().fuses_exp2() && state.exp2_bound(minus_top);
    const Rows<const Real>& v = p_.values;
    const int64_t end = min_of(span.last, work.any.last), begin = max_of(span.first, work.any.first) / kPanel * kPanel;
    do {
      for (int64_t tile = begin; tile < end; tile += step)
        for (int r = 0, g = 0; r < rows; r += group, ++g) {
          const Range& any = work.any_of[g];
          const int64_t first = max_of(max_of(tile, span.first), any.first);
          const int64_t last = min_of(min_of(tile + step, span.last), any.last);
          if (first >= last) continue;
          const int64_t panel = first / kPanel, key = panel * kPanel;
          const int count = static_cast<int>((last - 1) / kPanel + 1 - panel), n = work.columns(panel, count);
          const Block at = work.rows_of(r);
          const bool inside = work.all_of[g].first <= key && key + n <= work.all_of[g].last;
          if (state.restores()) {
            state.restore(r, at.rows, key, n, s);
          } else if (inside && fuses_exp2) {
            alignas(64) Real sums[kGroup * V::kLanes];
            clear(sums, at.rows * V::kLanes);
            work.tile().exp2(r, at.rows, panel, count, minus_top, s, sums);
            state.accumulate(r, at.rows, sums);
          } else {
            work.scores(r, panel, count, s);
            state.update(r, at.rows, key, n, s, factor);
          }
          if (!state.reads_values()) continue;
          if (second != nullptr && state.reads_twice()) {
            state.second_weights(r, at.rows, n, s, also);
            if (work.steps.drops())
              for (int i = 0; i < at.rows; ++i) work.steps.drop(at, i, key, n, also + i * kTile);
            Product<V, Start::add>::run({also + (first - key), kTile, 1}, v.at(at.batch, key_head(at), first), v.row,
                                        last - first, second + r * width, width, at.rows, width);
          }
          if (work.steps.drops())
            for (int i = 0; i < at.rows; ++i) work.steps.drop(at, i, key, n, s + i * kTile);
          const Left<Real> weights{s + (first - key), kTile, 1};
          const Real* values = v.at(at.batch, key_head(at), first);
          Real* to = context + r * width;
          if (!finite(at, first, last))
            row_by_row(at, weights, values, last - first, to, state.rescales() ? factor : nullptr);
          else if (at.rows == 1 && width > V::kAcross * V::kLanes)
            RowSum<V>::run(weights.at, values, v.row, last - first, to, width, state.rescales() ? factor[0] : Real(1));
          else if (state.rescales())
            Product<V, Start::scaled>::run(weights, values, v.row, last - first, to, width, at.rows, width, factor);
          else
            Product<V, Start::add>::run(weights, values, v.row, last - first, to, width, at.rows, width);
        }
    } while (state.again());
  }

  void finish(Worker<V>& work, Real* context, Real* second) const {
    const int64_t width = p_.value_width;
    for (int r = 0; r < work.block.rows; ++r) {
      work.state().finish(r, p_.values, context + r * width, second == nullptr ? nullptr : second + r * width);
      p_.rows[row(work.block) + r] = work.state().rows()[r];
    }
  }

  void forward_split(int64_t blocks, int64_t parts) {
    const int64_t all = p_.batch * p_.heads * blocks, width = p_.value_width;
    const int64_t part_keys = ((p_.keys + parts - 1) / parts + kTile - 1) / kTile * kTile;
    Buffer contexts_buffer, rows_buffer;
    Real* contexts = buffer(contexts_buffer, all * parts * kBlock * width);
    auto* rows = static_cast<RowStats<Real>*>(
        rows_buffer.reserve(static_cast<size_t>(all * parts * kBlock) * sizeof(RowStats<Real>)));
    each(all * parts, [&](int64_t task) {
      Worker<V> work(shared_);
      work.begin(block_of(task / parts / blocks, task / parts % blocks));
      const int64_t first = task % parts * part_keys;
      attend(work, {first, min_of(p_.keys, first + part_keys)}, contexts + task * kBlock * width, nullptr);
      for (int r = 0; r < work.block.rows; ++r) rows[task * kBlock + r] = work.state().rows()[r];
    });
    each(all, [&](int64_t task) {
      Worker<V> work(shared_);
      work.begin(block_of(task / blocks, task % blocks));
      Real *context = p_.context + row(work.block) * width, *second = second_of(work.block);
      for (int r = 0; r < work.block.rows; ++r) {
        const int64_t first = task * parts * kBlock + r;
        work.state().rows()[r] = rows[first];
        copy(contexts + first * width, context + r * width, width);
        for (int64_t part = 1; part < parts; ++part)
          work.state().merge(r, rows[first + part * kBlock], context + r * width,
                             contexts + (first + part * kBlock) * width);
      }
      finish(work, context, second);
    });
  }

  // ---- non-finite values

  /// Marks the panels with a NaN or infinite value, where 0 times a value is not 0. Needed only with a mask.
  void look_at_values() {
    const int64_t count = (p_.keys + kPanel - 1) / kPanel;
    non_finite_ =
        static_cast<uint8_t*>(non_finite_buffer_.reserve(static_cast<size_t>(p_.batch * p_.key_heads * count)));
    each(p_.batch * p_.key_heads * count, [&](int64_t task) {
      const int64_t which = task / count, key = task % count * kPanel, last = min_of(p_.keys, key + kPanel);
      Reg sum = V::zero();
      for (int64_t j = key; j < last; ++j) {
        const Real* v = p_.values.at(which / p_.key_heads, which % p_.key_heads, j);
        for (int64_t c = 0; c < p_.value_width; c += V::kLanes) sum = V::fma(V::load(v + c), V::zero(), sum);
      }
      non_finite_[task] = V::sum(sum) == 0 ? uint8_t{0} : uint8_t{1};
    });
  }
  bool finite(const Block& at, int64_t first, int64_t last) const {
    if (non_finite_ == nullptr) return true;
    const uint8_t* non_finite =
        non_finite_ + (at.batch * p_.key_heads + key_head(at)) * ((p_.keys + kPanel - 1) / kPanel);
    for (int64_t panel = first / kPanel; panel <= (last - 1) / kPanel; ++panel)
      if (non_finite[panel] != 0) return false;
    return true;
  }
  /// The product of weights and values that skips keys of weight 0.
  void row_by_row(const Block& at, Left<Real> weights, const Real* values, int64_t keys, Real* context,
                  const Real* factor) const {
    const int64_t width = p_.value_width;
    for (int r = 0; r < at.rows; ++r) {
      Real* to = context + r * width;
      const Reg by = V::set1(factor == nullptr ? Real(1) : factor[r]);
      for (int64_t c = 0; c < width; c += V::kLanes) V::store(to + c, V::mul(V::load(to + c), by));
      for (int64_t j = 0; j < keys; ++j) {
        const Real w = weights.at[r * weights.row + j];
        if (w == 0) continue;
        const Real* v = values + j * p_.values.row;
        for (int64_t c = 0; c < width; c += V::kLanes)
          V::store(to + c, V::fma(V::set1(w), V::load(v + c), V::load(to + c)));
      }
    }
  }

  int64_t key_head(const Block& at) const { return at.head / p_.group(); }
  static HEED_INLINE int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
  static HEED_INLINE int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }
  static void clear(Real* x, int64_t n) {
    for (int64_t i = 0; i < n; i += V::kLanes) V::store(x + i, V::zero());
  }
  static void copy(const Real* from, Real* to, int64_t n) {
    for (int64_t i = 0; i < n; i += V::kLanes) V::store(to + i, V::load(from + i));
  }

  const Problem<Real>& p_;
  const ParallelFor& parallel_for_;
  const ScoreKernel<V>& score_;
  const AlignKernel<V>& align_;
  typename ScoreTile<V>::Shared shared_;
  Buffer panels_, panel_numbers_, head_numbers_, non_finite_buffer_;
  uint8_t* non_finite_ = nullptr;  // [batch][key head][panel]
};

}  // namespace heed::kernels::cpu
