// Multi-dimensional attention, backward. With P the weights, Z the dropout factors, s = cap'(e) scale:
//
//   D_ic = dO_ic O_ic - dlse_ic,   dS_ijc = P_ijc (Z_ijc dO_ic v_jc - D_ic),   dv_jc = sum_i P Z dO_ic
//   biases: sum_c dS_ijc
//   matrix form:       dhidden_ijf = sum_c s dS_ijc Wd_cf,   dWd_cf = sum_ij s dS_ijc hidden_ijf,   dx = dhidden act'
//   elementwise form:  dx_ijc = s dS_ijc act'((q_ic + k_jc) / 5)
//   dq_i = sum_j dx_ij,   dk_j = sum_i dx_ij
//
// P is recomputed tile by tile. A task processes a chunk of keys against all queries: it owns the gradients of its keys
// and values; those of queries are partial sums per chunk, added in order. Tasks that would share a gradient of a bias
// are merged into one.

#pragma once

#include "heed/kernels/cpu/multi/scores.h"

namespace heed::kernels::cpu {

template <class V>
struct MultiBackward : Multi<V> {
  using Base = Multi<V>;
  using typename Base::F;
  using typename Base::Pairs;
  using typename Base::PreparedCall;
  using typename Base::Query;
  using typename Base::Real;
  using typename Base::Reg;
  using typename Base::Tile;

  static constexpr int64_t kTasks = 16, kChunks = 8, kChunkKeys = 64;
  static constexpr int64_t kPartial = int64_t{32} << 20;  // maximal bytes of partial sums
  static constexpr int64_t kRows = 64;                    // rows of a task that prepares or adds rows

  static void run(const MultiProblem<Real>& p, const MultiGradients<Real>& g, int64_t elements,
                  const ParallelFor& parallel_for) {
    Call call{PreparedCall(p, elements, parallel_for), g};
    call.rows = p.batch * p.heads * p.queries;
    Base::prepare(call.w);
    cut(call);
    lay_out(call);
    const int64_t row_tasks = Base::parts(call.rows, kRows);
    run_tasks(
        parallel_for, row_tasks, [](void* c, int64_t task) { prepare_rows(*static_cast<Call*>(c), task); }, &call);
    run_tasks(
        parallel_for, call.batches * call.heads * call.chunks,
        [](void* c, int64_t task) { meet_all(*static_cast<Call*>(c), task); }, &call);
    if (call.chunks > 1)
      run_tasks(
          parallel_for, row_tasks, [](void* c, int64_t task) { add_rows(*static_cast<Call*>(c), task); }, &call);
    add_partial(call);
  }

 private:
  struct Call {
    PreparedCall w;
    const MultiGradients<Real>& g;
    int64_t rows = 0;
    int64_t batches = 1, heads = 1, chunks = 1;  // parts that the batch, the key heads and the keys are split into

    Real *scaled_grad = nullptr, *mean = nullptr;  // [rows][channels]: dO / sum, D / sum
    Real* exp_query = nullptr;                     // [rows][width]
    uint8_t* tame = nullptr;                       // [rows]
    Real* later = nullptr;                         // [chunks - 1][rows][width]: gradients of the query
    Real* partial = nullptr;                       // [batches][chunks][heads][Wd, relative, alibi]

    Buffer scratch = {};  // holds all arrays above

    bool biased() const { return g.full || g.per_key || g.relative != nullptr || g.alibi != nullptr; }
    int64_t of_matrix() const { return g.to_scores == nullptr ? 0 : w.p.width * w.p.channels; }
    int64_t of_relative() const { return g.relative == nullptr ? 0 : 2 * w.p.bias.relative_reach + 1; }
    int64_t of_head() const { return of_matrix() + of_relative() + (g.alibi == nullptr ? 0 : 1); }
    Real* head(int64_t part, int64_t h) const { return partial + (part * w.p.heads + h) * of_head(); }
    Real* query_gradients(int64_t chunk, int64_t row) const {
      return (chunk == 0 ? g.query : later + (chunk - 1) * rows * w.p.width) + row * w.p.width;
    }
  };
  struct Scratch {
    Real *hidden, *grads;    // [pairs][width]
    Real *scores, *factors;  // [pairs][channels]
    Real* sums;              // [pairs][lanes]
  };
  struct GradientSums {  // destinations
    Real *query, *keys, *values;
    Real *matrix, *relative, *alibi;
  };

  // ---- how the work is split: by sizes alone ----

  static void cut(Call& call) {
    const auto& p = call.w.p;
    const auto& g = call.g;
    const auto shares = [&](auto stride) {
      return (g.full && stride(g.full) == 0) || (g.per_key && stride(g.per_key) == 0);
    };
    const bool one_batch = shares([](const Grid<Real>& x) { return x.batch; });
    const bool one_head = shares([](const Grid<Real>& x) { return x.head; });
    const bool one_chunk = shares([](const Grid<Real>& x) { return x.key; });
    const auto size = static_cast<int64_t>(sizeof(Real));
    const int64_t parts = Base::max_of(1, kPartial / Base::max_of(1, p.heads * call.of_head() * size));
    call.heads = one_head ? 1 : p.key_heads;
    call.batches = one_batch ? 1 : Base::min_of(p.batch, parts);
    if (one_chunk || call.batches * call.heads == 0) return;
    const int64_t wanted = Base::parts(kTasks, call.batches * call.heads);
    const int64_t later = kPartial / Base::max_of(1, call.rows * p.width * size);
    call.chunks = Base::min_of(Base::min_of(wanted, kChunks), Base::min_of(parts / call.batches, later + 1));
    call.chunks = Base::max_of(1, Base::min_of(call.chunks, p.keys / kChunkKeys));
  }

  static void lay_out(Call& call) {
    const auto& p = call.w.p;
    const int64_t width = p.width, exp_width = call.w.factored ? width : 0, parts = call.batches * call.chunks;
    const int64_t numbers = call.rows * (2 * p.channels + exp_width) + (call.chunks - 1) * call.rows * width +
                            parts * p.heads * call.of_head();
    const auto bytes = static_cast<size_t>(numbers) * sizeof(Real) + static_cast<size_t>(call.rows);
    call.scaled_grad = static_cast<Real*>(call.scratch.reserve(bytes));
    call.mean = call.scaled_grad + call.rows * p.channels;
    call.exp_query = call.mean + call.rows * p.channels;
    call.later = call.exp_query + call.rows * exp_width;
    call.partial = call.later + (call.chunks - 1) * call.rows * width;
    call.tame = reinterpret_cast<uint8_t*>(call.scaled_grad + numbers);
  }

  static void add_to(Real* to, Reg x) { V::store(to, V::add(V::load(to), x)); }

  // ---- rows ----

  static void prepare_rows(const Call& call, int64_t task) {
    const auto& p = call.w.p;
    const int64_t last = Base::min_of((task + 1) * kRows, call.rows);
    for (int64_t row = task * kRows; row < last; ++row) {
      const int64_t at = row * p.channels, bh = row / p.queries;
      for (int64_t c = at; c < at + p.channels; c += V::kLanes) {
        const Reg sum = V::load(p.sum + c), grad = V::load(call.g.context + c);
        Reg d = V::mul(grad, V::load(p.context + c));
        if (call.g.lse != nullptr) d = V::sub(d, V::load(call.g.lse + c));
        const auto dead = V::equal(sum, V::zero());
        V::store(call.scaled_grad + c, V::select(dead, V::zero(), V::div(grad, sum)));
        V::store(call.mean + c, V::select(dead, V::zero(), V::div(d, sum)));
      }
      if (!call.w.factored) continue;
      const Real* query = p.query.at(bh / p.heads, bh % p.heads, row % p.queries);
      const Real by = call.w.fused ? 1 / call.w.curve : Real(1);
      call.tame[row] = Base::exp_row(call.w, query, by, call.exp_query + row * p.width) ? 1 : 0;
    }
  }

  static void add_rows(const Call& call, int64_t task) {
    const int64_t last = Base::min_of((task + 1) * kRows, call.rows), width = call.w.p.width;
    for (int64_t row = task * kRows; row < last; ++row)
      for (int64_t chunk = 1; chunk < call.chunks; ++chunk) {
        Real* to = call.query_gradients(0, row);
        const Real* from = call.query_gradients(chunk, row);
        for (int64_t f = 0; f < width; f += V::kLanes) add_to(to + f, V::load(from + f));
      }
  }

  /// Sums the partial gradients of Wd, relative and alibi, in order.
  static void add_partial(const Call& call) {
    const auto& p = call.w.p;
    const auto& g = call.g;
    const int64_t parts = call.batches * call.chunks, matrix = call.of_matrix(), relative = call.of_relative();
    if (matrix > 0) Base::clear(g.to_scores, p.heads * matrix);
    if (relative > 0) Base::clear(g.relative, p.bias.relative_head == 0 ? relative : p.heads * p.bias.relative_head);
    if (g.alibi != nullptr) Base::clear(g.alibi, p.heads);
    for (int64_t part = 0; part < parts; ++part)
      for (int64_t h = 0; h < p.heads; ++h) {
        const Real* from = call.head(part, h);
        for (int64_t n = 0; n < matrix; ++n) g.to_scores[h * matrix + n] += from[n];
        for (int64_t n = 0; n < relative; ++n) g.relative[h * p.bias.relative_head + n] += from[matrix + n];
        if (g.alibi != nullptr) g.alibi[h] += from[matrix + relative];
      }
  }

  // ---- pairs ----

  /// A task: a part of the batch, a key head (or all) and a chunk of keys.
  static void meet_all(const Call& call, int64_t task) {
    const auto& p = call.w.p;
    const int64_t chunk = task % call.chunks, head = task / call.chunks % call.heads;
    const int64_t batch = task / call.chunks / call.heads, part = batch * call.chunks + chunk;
    const int64_t key_heads = p.key_heads / call.heads, heads = key_heads * p.group();
    Base::clear(call.head(part, head * heads), heads * call.of_head());
    for (int64_t b = p.batch * batch / call.batches; b < p.batch * (batch + 1) / call.batches; ++b)
      for (int64_t kh = head * key_heads; kh < (head + 1) * key_heads; ++kh) meet_head(call, b, kh, chunk, part);
  }

  static void meet_head(const Call& call, int64_t b, int64_t kh, int64_t chunk, int64_t part) {
    const PreparedCall& w = call.w;
    const auto& p = w.p;
    const int64_t from = p.keys * chunk / call.chunks, to = p.keys * (chunk + 1) / call.chunks;
    const int64_t position = (b * p.key_heads + kh) * p.keys, first = kh * p.group(), last = first + p.group();
    Base::clear(call.g.keys + (position + from) * p.width, (to - from) * p.width);
    Base::clear(call.g.values + (position + from) * p.channels, (to - from) * p.channels);
    Base::clear(call.query_gradients(chunk, p.row_index(b, first, 0)), (last - first) * p.queries * p.width);

    Real* hidden = Base::tile_buffer(kMultiTile * (2 * w.row() + 2 * w.channel_row() + V::kLanes));
    Real *grads = hidden + kMultiTile * w.row(), *scores = grads + kMultiTile * w.row();
    Real* factors = scores + kMultiTile * w.channel_row();
    const Scratch scratch{hidden, grads, scores, factors, factors + kMultiTile * w.channel_row()};
    Pairs pairs(p, w.elements);
    for (int64_t key = from; key < to; key += w.tile_keys()) {
      const Tile tile = w.tile(b, kh, key);
      for (int64_t h = first; h < last; ++h) {
        Real* shared = call.head(part, h);
        GradientSums s{nullptr,
                       call.g.keys + (position + key) * p.width,
                       call.g.values + (position + key) * p.channels,
                       call.g.to_scores == nullptr ? nullptr : shared,
                       call.g.relative == nullptr ? nullptr : shared + call.of_matrix(),
                       call.g.alibi == nullptr ? nullptr : shared + call.of_matrix() + call.of_relative()};
        for (int64_t i = 0; i < p.queries; ++i) {
          pairs.find(b, h, i, key, Base::min_of(key + w.tile_keys(), to));
          if (pairs.count == 0) continue;
          const int64_t row = p.row_index(b, h, i);
          s.query = call.query_gradients(chunk, row);
          meet(call, h, row, {p.query.at(b, h, i), call.exp_query + row * p.width, w.factored && call.tame[row] != 0},
               tile, pairs, scratch, s);
        }
      }
    }
  }

  /// One query and the keys of a tile that it attends.
  static void meet(const Call& call, int64_t h, int64_t row, const Query& q, const Tile& t, Pairs& pairs,
                   const Scratch& scratch, const GradientSums& s) {
    const PreparedCall& w = call.w;
    int32_t wild[kMultiTile];
    const int32_t* rest = pairs.key;
    int others = pairs.count;
    if (w.fused && q.tame) {
      others = t.all_tame ? 0 : pairs.part(t.tame, wild);
      rest = wild;
      fuse(call, row, q, t, pairs.key, pairs.count, s);
    }
    if (others == 0) return;
    Base::score(w, h, q, t, rest, others, scratch.hidden, scratch.scores);
    if (w.p.dropout > 0) pairs.draw(rest, others, scratch.factors, w.channel_row());
    gradient_scores(call, row, t, rest, others, pairs.added(), scratch, s);
    if (call.biased()) {
      for (int n = 0; n < others; ++n) scratch.sums[n] = V::sum(V::load(scratch.sums + n * V::kLanes));
      pairs.add_gradients(call.g, scratch.sums, s.relative, s.alibi);
    }
    if (w.matrix)
      gradient_matrix(w, h, q, t, rest, others, scratch, s);
    else
      gradient_elements(w, q, t, rest, others, scratch.scores, s);
  }

  /// Turns scores into s dS and adds dv. scratch.sums: partial sums of sum_c dS, one register per pair.
  static void gradient_scores(const Call& call, int64_t row, const Tile& t, const int32_t* key, int count,
                              const Real* added, const Scratch& scratch, const GradientSums& s) {
    const PreparedCall& w = call.w;
    const int64_t channels = w.p.channels, stride = w.channel_row();
    const typename Base::CapAndBias activation(w);
    const bool drops = w.p.dropout > 0, sums = call.biased();
    if (sums) Base::clear(scratch.sums, count * V::kLanes);
    for (int64_t c = 0; c < channels; c += V::kLanes) {
      const Reg scaled_grad = V::load(call.scaled_grad + row * channels + c),
                mean = V::load(call.mean + row * channels + c);
      const Reg top = V::load(w.p.top + row * channels + c);
      for (int n = 0; n < count; ++n) {
        Real* score = scratch.scores + n * stride + c;
        Real* grad_value = s.values + key[n] * channels + c;
        Reg derivative;
        const Reg known = activation(V::load(score), added == nullptr ? Real(0) : added[n], derivative);
        const Reg weight = V::exp2_below(V::sub(known, top));
        const Reg scaled = drops ? V::mul(scaled_grad, V::load(scratch.factors + n * stride + c)) : scaled_grad;
        V::store(grad_value, V::fma(weight, scaled, V::load(grad_value)));
        const Reg apart = V::sub(V::mul(scaled, V::load(t.values + key[n] * t.value_row + c)), mean);
        const Reg grad = V::mul(weight, apart);
        if (sums) add_to(scratch.sums + n * V::kLanes, grad);
        V::store(score, V::mul(grad, derivative));
      }
    }
  }

  static void gradient_matrix(const PreparedCall& w, int64_t h, const Query& q, const Tile& t, const int32_t* key,
                              int count, const Scratch& scratch, const GradientSums& s) {
    const int64_t width = w.p.width, channels = w.p.channels;
    if (s.matrix != nullptr)
      Base::template product<Start::add>({scratch.scores, 1, w.channel_row()}, scratch.hidden, w.row(), count, s.matrix,
                                         width, static_cast<int>(channels), width);
    Base::template product<Start::zero>({scratch.scores, w.channel_row(), 1}, w.stored(h), width, channels,
                                        scratch.grads, w.row(), count, width);
    const bool from_hidden = w.p.activation == Activation::tanh;  // tanh' = 1 - tanh^2
    for (int64_t f = 0; f < width; f += V::kLanes) {
      Reg query = V::zero();
      for (int n = 0; n < count; ++n) {
        const Reg hidden = V::load(scratch.hidden + n * w.row() + f);
        const Reg derivative =
            from_hidden ? V::fnma(hidden, hidden, V::set1(1))
                        : F::activation_backward(w.p.activation,
                                                 V::add(V::load(q.row + f), V::load(t.keys + key[n] * t.key_row + f)));
        const Reg grad = V::mul(derivative, V::load(scratch.grads + n * w.row() + f));
        query = V::add(query, grad);
        add_to(s.keys + key[n] * width + f, grad);
      }
      add_to(s.query + f, query);
    }
  }

  static void gradient_elements(const PreparedCall& w, const Query& q, const Tile& t, const int32_t* key, int count,
                                const Real* grads, const GradientSums& s) {
    const int64_t width = w.p.width;
    for (int64_t f = 0; f < width; f += V::kLanes) {
      Reg query = V::zero();
      for (int n = 0; n < count; ++n) {
        const Reg derivative =
            F::activation_backward(w.p.activation, Base::soft(q.row + f, t.keys + key[n] * t.key_row + f));
        const Reg grad = V::mul(derivative, V::load(grads + n * w.channel_row() + f));
        query = V::add(query, grad);
        add_to(s.keys + key[n] * width + f, grad);
      }
      add_to(s.query + f, query);
    }
  }

  /// The elementwise form in one pass. With x = c r, r = 1 / (1 + E F): tanh' = 4 r (1 - r) = 4 x (c - x) / c^2.
  static void fuse(const Call& call, int64_t row, const Query& q, const Tile& t, const int32_t* key, int count,
                   const GradientSums& s) {
    for (int64_t c = 0; c < call.w.p.channels; c += kPad)
      fuse_some<kPad / V::kLanes>(call, row, q, t, key, count, c, s);
  }

  template <int N>
  static void fuse_some(const Call& call, int64_t row, const Query& q, const Tile& t, const int32_t* key, int count,
                        int64_t c, const GradientSums& s) {
    const int64_t channels = call.w.p.channels, exp_row = call.w.row();
    const Real curve = call.w.curve, steep = 4 * call.w.p.scale / (curve * curve);
    const Reg over = V::set1(1 / curve), first = V::set1(steep * curve), second = V::set1(steep);
    Reg exp_query[N], query[N], scaled_grad[N], mean[N];
#pragma GCC unroll 8
    for (int k = 0; k < N; ++k) {
      const int64_t at = c + k * V::kLanes;
      exp_query[k] = V::load(q.exp_row + at);
      query[k] = V::zero();
      scaled_grad[k] = V::load(call.scaled_grad + row * channels + at);
      mean[k] = V::load(call.mean + row * channels + at);
    }
    for (int n = 0; n < count; ++n) {
      const int64_t at = key[n] * channels + c;
      const Real* value = t.values + key[n] * t.value_row + c;
#pragma GCC unroll 8
      for (int k = 0; k < N; ++k) {
        const int64_t l = k * V::kLanes;
        const Reg x = V::reciprocal(V::fma(exp_query[k], V::load(t.exp_keys + key[n] * exp_row + c + l), over));
        const Reg weight = V::exp2_below(x);
        V::store(s.values + at + l, V::fma(weight, scaled_grad[k], V::load(s.values + at + l)));
        const Reg of_score = V::mul(weight, V::sub(V::mul(scaled_grad[k], V::load(value + l)), mean[k]));
        const Reg grad = V::mul(of_score, V::mul(x, V::fnma(second, x, first)));
        query[k] = V::add(query[k], grad);
        add_to(s.keys + at + l, grad);
      }
    }
#pragma GCC unroll 8
    for (int k = 0; k < N; ++k) add_to(s.query + c + k * V::kLanes, query[k]);
  }
};

}  // namespace heed::kernels::cpu
