// Multi-dimensional attention, forward: loops over blocks of queries and tiles of keys. For each query and channel, the
// running maximum, the sum of the unnormalized weights and their sum over the values are kept in the result arrays.

#pragma once

#include "heed/kernels/cpu/multi/scores.h"

namespace heed::kernels::cpu {

template <class V>
struct MultiForward : Multi<V> {
  using Base = Multi<V>;
  using typename Base::F;
  using typename Base::Pairs;
  using typename Base::PreparedCall;
  using typename Base::Query;
  using typename Base::Real;
  using typename Base::Reg;
  using typename Base::Tile;

  static constexpr int64_t kBlock = 16;  // queries of a task
  static constexpr int64_t kTasks = 16;  // with fewer blocks of queries, keys are split into chunks
  static constexpr int64_t kChunks = 8, kChunkKeys = 256;

  static void run(const MultiProblem<Real>& p, int64_t elements, const ParallelFor& parallel_for) {
    Call call{PreparedCall(p, elements, parallel_for)};
    Base::prepare(call.w);
    call.blocks = Base::parts(p.queries, kBlock);
    const int64_t tasks = p.batch * p.heads * call.blocks, rows = p.batch * p.heads * p.queries;
    if (tasks == 0) return;
    call.chunks = Base::max_of(1, Base::min_of(Base::min_of(kChunks, kTasks / tasks), p.keys / kChunkKeys));
    call.numbers = rows * p.channels;
    call.later = Base::reals(call.later_buffer, (call.chunks - 1) * 3 * call.numbers);
    run_tasks(
        parallel_for, tasks * call.chunks, [](void* c, int64_t task) { attend(*static_cast<Call*>(c), task); }, &call);
    run_tasks(
        parallel_for, tasks, [](void* c, int64_t task) { complete(*static_cast<Call*>(c), task); }, &call);
  }

 private:
  struct Call {
    PreparedCall w;
    int64_t blocks = 0, chunks = 1, numbers = 0;
    Real* later = nullptr;  // [chunks - 1][top, sum, context][batch][heads][queries][channels]
    Buffer later_buffer = {};

    Real* top(int64_t chunk) const { return chunk == 0 ? w.p.top : later + (chunk - 1) * 3 * numbers; }
    Real* sum(int64_t chunk) const { return chunk == 0 ? w.p.sum : top(chunk) + numbers; }
    Real* context(int64_t chunk) const { return chunk == 0 ? w.p.context : top(chunk) + 2 * numbers; }
  };
  struct State {  // of one query, [channels] each
    Real *top, *sum, *context;
    bool fixed;
  };
  struct Scratch {
    Real *hidden, *scores, *factors;
  };

  /// A block of queries against a chunk of keys.
  static void attend(const Call& call, int64_t task) {
    const PreparedCall& w = call.w;
    const auto& p = w.p;
    const int64_t chunk = task % call.chunks, block = task / call.chunks % call.blocks;
    const int64_t bh = task / call.chunks / call.blocks, b = bh / p.heads, h = bh % p.heads, kh = h / w.group();
    const int64_t first = block * kBlock, rows = Base::min_of(kBlock, p.queries - first);
    const int64_t from = p.keys * chunk / call.chunks, to = p.keys * (chunk + 1) / call.chunks;

    Real* exp_rows = Base::tile_buffer((kBlock + kMultiTile) * w.row() + 2 * kMultiTile * w.channel_row());
    Real *hidden = exp_rows + kBlock * w.row(), *scores = hidden + kMultiTile * w.row();
    const Scratch scratch{hidden, scores, scores + kMultiTile * w.channel_row()};
    Query queries[kBlock];
    State states[kBlock];
    for (int64_t r = 0; r < rows; ++r) {
      const Real* row = p.query.at(b, h, first + r);
      Real* exp_row = exp_rows + r * w.row();
      const bool tame = w.factored && Base::exp_row(w, row, w.fused ? 1 / w.curve : Real(1), exp_row);
      queries[r] = {row, exp_row, tame};
      const int64_t n = p.row_index(b, h, first + r) * p.channels;
      states[r] = {call.top(chunk) + n, call.sum(chunk) + n, call.context(chunk) + n, w.fixed(h)};
      begin(w, h, states[r]);
    }
    Pairs pairs(p, w.elements);
    for (int64_t key = from; key < to; key += w.tile_keys()) {
      const Tile tile = w.tile(b, kh, key);
      for (int64_t r = 0; r < rows; ++r) {
        pairs.find(b, h, first + r, key, Base::min_of(key + w.tile_keys(), to));
        if (pairs.count > 0) meet(w, h, queries[r], tile, pairs, scratch, states[r]);
      }
    }
  }

  static void begin(const PreparedCall& w, int64_t h, const State& s) {
    const Reg top = V::set1(w.start(h));
    for (int64_t c = 0; c < w.p.channels; c += V::kLanes) {
      V::store(s.top + c, top);
      V::store(s.sum + c, V::zero());
      V::store(s.context + c, V::zero());
    }
  }

  /// One query and the keys of a tile that it attends.
  static void meet(const PreparedCall& w, int64_t h, const Query& q, const Tile& t, Pairs& pairs,
                   const Scratch& scratch, const State& s) {
    int32_t wild[kMultiTile];
    const int32_t* rest = pairs.key;
    int others = pairs.count;
    if (w.fused && q.tame) {
      others = t.all_tame ? 0 : pairs.part(t.tame, wild);
      rest = wild;
      fuse(w, q, t, pairs.key, pairs.count, s);
    }
    if (others == 0) return;
    Base::score(w, h, q, t, rest, others, scratch.hidden, scratch.scores);
    if (w.p.soft_cap > 0 || w.p.bias.any()) activate_all(w, pairs.added(), others, scratch.scores);
    if (w.p.dropout > 0) pairs.draw(rest, others, scratch.factors, w.channel_row());
    normalize_row(w, t, rest, others, scratch, s);
  }

  static void activate_all(const PreparedCall& w, const Real* added, int count, Real* scores) {
    const typename Base::CapAndBias activation(w);
    Reg grad;
    for (int n = 0; n < count; ++n, scores += w.channel_row())
      for (int64_t c = 0; c < w.p.channels; c += V::kLanes)
        V::store(scores + c, activation(V::load(scores + c), added == nullptr ? Real(0) : added[n], grad));
  }

  /// Adds the keys to the running softmax of each channel.
  static void normalize_row(const PreparedCall& w, const Tile& t, const int32_t* key, int count, const Scratch& scratch,
                            const State& s) {
    const int64_t channels = w.p.channels, row = w.channel_row();
    const bool drops = w.p.dropout > 0;
    for (int64_t c = 0; c < channels; c += V::kLanes) {
      const Real* scores = scratch.scores + c;
      Reg top = V::load(s.top + c), before = V::load(s.sum + c), context_before = V::load(s.context + c);
      if (!s.fixed) {
        Reg best = top;
        for (int n = 0; n < count; ++n) best = V::max(V::load(scores + n * row), best);  // operand order: ignores NaN
        const Reg less = V::exp2_below(V::sub(top, best));
        before = V::mul(before, less);
        context_before = V::mul(context_before, less);
        top = best;
        V::store(s.top + c, top);
      }
      Reg sum = V::zero(), context = V::zero();  // of the tile: partial sums round less
      for (int n = 0; n < count; ++n) {
        Reg weight = V::exp2_below(V::sub(V::load(scores + n * row), top));
        sum = V::add(sum, weight);
        if (drops) weight = V::mul(weight, V::load(scratch.factors + n * row + c));
        context = V::fma(weight, V::load(t.values + key[n] * t.value_row + c), context);
      }
      V::store(s.sum + c, V::add(before, sum));
      V::store(s.context + c, V::add(context_before, context));
    }
  }

  /// The elementwise form in one pass: scores are not stored.
  static void fuse(const PreparedCall& w, const Query& q, const Tile& t, const int32_t* key, int count,
                   const State& s) {
    for (int64_t c = 0; c < w.p.channels; c += kPad) fuse_some<kPad / V::kLanes>(w, q, t, key, count, c, s);
  }

  template <int N>
  static void fuse_some(const PreparedCall& w, const Query& q, const Tile& t, const int32_t* key, int count, int64_t c,
                        const State& s) {
    const Reg over = V::set1(1 / w.curve);
    Reg exp_query[N], sum[N], context[N];
#pragma GCC unroll 8
    for (int k = 0; k < N; ++k) {
      exp_query[k] = V::load(q.exp_row + c + k * V::kLanes);
      sum[k] = context[k] = V::zero();
    }
    for (int n = 0; n < count; ++n) {
      const Real* exp_key = t.exp_keys + key[n] * w.row() + c;
      const Real* value = t.values + key[n] * t.value_row + c;
#pragma GCC unroll 8
      for (int k = 0; k < N; ++k) {
        const Reg weight = V::exp2_below(V::reciprocal(V::fma(exp_query[k], V::load(exp_key + k * V::kLanes), over)));
        sum[k] = V::add(sum[k], weight);
        context[k] = V::fma(weight, V::load(value + k * V::kLanes), context[k]);
      }
    }
#pragma GCC unroll 8
    for (int k = 0; k < N; ++k) {
      const int64_t at = c + k * V::kLanes;
      V::store(s.sum + at, V::add(V::load(s.sum + at), sum[k]));
      V::store(s.context + at, V::add(V::load(s.context + at), context[k]));
    }
  }

  /// Merges the chunks of keys in order and normalizes.
  static void complete(const Call& call, int64_t task) {
    const auto& p = call.w.p;
    const int64_t bh = task / call.blocks, first = task % call.blocks * kBlock;
    const int64_t rows = Base::min_of(kBlock, p.queries - first);
    const int64_t from = (bh * p.queries + first) * p.channels, to = from + rows * p.channels;
    for (int64_t n = from; n < to; n += V::kLanes) {
      Reg top = V::load(p.top + n), sum = V::load(p.sum + n), context = V::load(p.context + n);
      for (int64_t chunk = 1; chunk < call.chunks; ++chunk) {
        const Reg other = V::load(call.top(chunk) + n), best = V::max(other, top);
        const Reg mine = V::exp2_below(V::sub(top, best)), its = V::exp2_below(V::sub(other, best));
        sum = V::fma(its, V::load(call.sum(chunk) + n), V::mul(mine, sum));
        context = V::fma(its, V::load(call.context(chunk) + n), V::mul(mine, context));
        top = best;
      }
      const auto dead = V::equal(sum, V::zero());
      V::store(p.top + n, top);
      V::store(p.sum + n, sum);
      V::store(p.context + n, V::select(dead, V::zero(), V::div(context, sum)));
      if (p.lse != nullptr) {
        const Reg lse = V::mul(V::set1(Real(kLn2)), V::add(top, V::log2(sum)));
        const Reg known = V::select(V::equal(sum, sum), lse, sum);  // NaN stays NaN
        V::store(p.lse + n, V::select(dead, V::set1(Base::kNone), known));
      }
    }
  }
};

}  // namespace heed::kernels::cpu
