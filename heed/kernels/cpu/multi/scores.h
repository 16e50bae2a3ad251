// Shared by forward and backward of the multi-dimensional kernels: the scores of one query against a list of keys.
//
// Scores are stored times log2 e, since weights are computed by exp2. Lanes are features, or channels.
//
// tanh(a + b) = 1 - 2 / (1 + E F) with E = exp(2a), F = exp(2b) computed once per token: a multiplication and a
// reciprocal for each pair and feature. A token is tame if |2a| <= 80 for each feature (40 in the fused form below,
// where E F must not overflow), so that E and F are normal numbers. A pair with a token that is not tame (or is NaN) is
// scored by tanh of a + b. Clamping 2a instead would be wrong: at a = 60, b = -59 only the sum matters.
//
// The elementwise form with tanh has e log2(e) = top + c / (1 + E F), c = -2 top, top = 5 scale log2 e. With 1 / c
// folded into E, an unnormalized weight takes one fused multiply-add, one reciprocal and one exp2:
//
//   2^(e log2(e) - top) = 2^(1 / (1/c + (E/c) F))
//
// Bounded scores need no running maximum: `top` is fixed.

#pragma once

#include <limits>

#include "heed/kernels/cpu/engine/memory.h"
#include "heed/kernels/cpu/multi/pairs.h"
#include "heed/kernels/cpu/simd/functions.h"
#include "heed/kernels/cpu/tiles/product.h"

namespace heed::kernels::cpu {

template <class V>
struct Multi {
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  using F = Functions<V>;
  using Pairs = MultiPairs<V>;

  static constexpr Real kBounded = 20;           // scores up to here need no running maximum
  static constexpr Real kSoft = Real(0.2);       // the elementwise form: 5 act(x / 5)
  static constexpr int64_t kTileNumbers = 3072;  // elementwise: keys x channels of a tile, which every query rereads
  static constexpr Real kLowest = std::numeric_limits<Real>::lowest();
  static constexpr Real kNone = -std::numeric_limits<Real>::infinity();

  struct Query {
    const Real *row, *exp_row;
    bool tame;
  };
  struct Tile {  // keys and values, starting at the first key of the tile
    const Real *keys, *values;
    int64_t key_row, value_row;
    const Real* exp_keys;
    const uint8_t* tame;
    bool all_tame;  // whether all keys of the head are
  };

  static Real size(Real x) { return x < 0 ? -x : x; }
  static int64_t min_of(int64_t x, int64_t y) { return x < y ? x : y; }
  static int64_t max_of(int64_t x, int64_t y) { return x > y ? x : y; }
  static int64_t parts(int64_t n, int64_t of) { return (n + of - 1) / of; }
  static Real* reals(Buffer& scratch, int64_t count) {
    return static_cast<Real*>(scratch.reserve(static_cast<size_t>(count) * sizeof(Real)));
  }
  static Real* tile_buffer(int64_t count) {
    return static_cast<Real*>(scratch(Slot::tile, static_cast<size_t>(count) * sizeof(Real)));
  }
  static void clear(Real* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] = 0;
  }

  /// A call and the data prepared once for it.
  struct PreparedCall {
    const MultiProblem<Real>& p;
    int64_t elements;
    const ParallelFor& parallel_for;

    bool matrix, factored, fused;  // factored: exp_keys are used; fused: the elementwise formula above
    Real factor;                   // multiplies the sum of the matrix form, or act of the elementwise form
    Real curve;                    // fused: c
    Real double_of, limit;         // E = exp(double_of a), |double_of a| <= limit

    Real* exp_keys = nullptr;   // [batch][key heads][keys][row]
    uint8_t* tame = nullptr;    // [batch][key heads][keys], then [batch][key heads]: whether all keys are
    Real* to_scores = nullptr;  // [heads or 1][width][channels]: Wd transposed, times factor
    Real* bound = nullptr;      // [heads or 1]: upper bound of |e log2 e|
    Buffer keys_buffer, scores_buffer, bound_buffer;

    /// Strides of our buffers, padded: strides that are powers of 2 would map to few sets of the cache.
    int64_t row() const { return p.width + kPad; }
    int64_t channel_row() const { return p.channels + kPad; }
    int64_t tile_keys() const {
      return matrix ? kMultiTile : max_of(12, min_of(kMultiTile, kTileNumbers / p.channels));
    }

    PreparedCall(const MultiProblem<Real>& problem, int64_t elements_, const ParallelFor& threads)
        : p(problem), elements(elements_), parallel_for(threads) {
      const Real unit = p.soft_cap > 0 ? Real(1) : Real(kLog2E), steep = size(5 * p.scale);
      matrix = p.to_scores != nullptr;
      fused = !matrix && p.activation == Activation::tanh && !(p.soft_cap > 0) && !p.bias.any() && !(p.dropout > 0) &&
              steep >= Real(0.01) && steep <= kBounded;
      factored = fused || (matrix && p.activation == Activation::tanh);
      factor = p.scale * unit * (matrix ? Real(1) : Real(5));
      curve = -10 * p.scale * Real(kLog2E);
      double_of = matrix ? 2 : 2 * kSoft;
      limit = fused ? 40 : 80;
    }

    int64_t group() const { return p.group(); }
    int64_t sets() const { return matrix && p.to_scores_head != 0 ? p.heads : 1; }  // number of matrices Wd
    int64_t set(int64_t h) const { return sets() == 1 ? 0 : h; }
    const Real* transposed(int64_t h) const { return to_scores + set(h) * p.width * p.channels; }
    const Real* stored(int64_t h) const { return p.to_scores + h * p.to_scores_head; }

    /// Whether the scores of this head need no running maximum.
    bool fixed(int64_t h) const { return fused || (!p.bias.any() && bound[set(h)] <= kBounded * Real(kLog2E)); }
    Real start(int64_t h) const { return fused ? -curve / 2 : fixed(h) ? Real(0) : kLowest; }

    Tile tile(int64_t b, int64_t kh, int64_t key) const {
      const int64_t head = b * p.key_heads + kh, at = head * p.keys + key;
      return {p.key_rows.at(b, kh, key),
              p.values.at(b, kh, key),
              p.key_rows.row,
              p.values.row,
              factored ? exp_keys + at * row() : nullptr,
              factored ? tame + at : nullptr,
              factored && tame[p.batch * p.key_heads * p.keys + head] != 0};
    }
  };

  // ---- preparation ----

  /// Writes E or F of one token, times `by`; returns whether the token is tame.
  static bool exp_row(const PreparedCall& w, const Real* row, Real by, Real* to) {
    const Reg twice = V::set1(w.double_of), limit = V::set1(w.limit), all = V::set1(by);
    constexpr uint32_t kAll = (1U << V::kLanes) - 1;
    uint32_t tame = kAll;
    for (int64_t f = 0; f < w.p.width; f += V::kLanes) {
      const Reg x = V::mul(twice, V::load(row + f));
      tame &= V::bits(V::at_least(limit, V::abs(x)));
      V::store(to + f, V::mul(all, F::exp(x)));
    }
    return tame == kAll;
  }

  static void prepare(PreparedCall& w) {
    const auto& p = w.p;
    const int64_t key_heads = p.batch * p.key_heads;
    w.bound = reals(w.bound_buffer, w.sets());
    if (w.matrix) {
      w.to_scores = reals(w.scores_buffer, w.sets() * p.width * p.channels);
      for (int64_t h = 0; h < w.sets(); ++h) w.bound[h] = transpose(w, h);
    } else {
      w.bound[0] = F::bound(p.activation) * size(w.factor) * (p.soft_cap > 0 ? Real(kLog2E) : Real(1));
    }
    if (!w.factored) return;
    const int64_t numbers = key_heads * p.keys * w.row();
    const auto bytes = static_cast<size_t>(numbers) * sizeof(Real) + static_cast<size_t>(key_heads * (p.keys + 1));
    w.exp_keys = static_cast<Real*>(w.keys_buffer.reserve(bytes));
    w.tame = reinterpret_cast<uint8_t*>(w.exp_keys + numbers);
    run_tasks(
        w.parallel_for, parts(key_heads * p.keys, kKeys),
        [](void* context, int64_t task) { exp_some_keys(*static_cast<const PreparedCall*>(context), task); }, &w);
    for (int64_t head = 0; head < key_heads; ++head) {
      uint8_t all = 1;
      for (int64_t j = 0; j < p.keys; ++j) all &= w.tame[head * p.keys + j];
      w.tame[key_heads * p.keys + head] = all;
    }
  }

  // ---- pairs ----

  /// A product in strips of columns: one strip of b stays in the L1 cache for all rows.
  template <Start kStart>
  static void product(Left<Real> a, const Real* b, int64_t ldb, int64_t steps, Real* c, int64_t ldc, int rows,
                      int64_t columns) {
    constexpr int64_t kStrip = V::kAcross * V::kLanes;
    for (int64_t n = 0; n < columns; n += kStrip)
      Product<V, kStart>::run(a, b + n, ldb, steps, c + n, ldc, rows, min_of(kStrip, columns - n));
  }

  /// hidden [count][row] = act(q + k)
  static void hide(const PreparedCall& w, const Query& q, const Tile& t, const int32_t* key, int count, Real* hidden) {
    const int64_t width = w.p.width;
    const Reg one = V::set1(1), two = V::set1(2), huge = V::set1(Real(0x1p100));
    for (int n = 0; n < count; ++n, hidden += w.row()) {
      const int64_t j = key[n];
      if (w.factored && q.tame && t.tame[j] != 0) {
        const Real* exp_key = t.exp_keys + j * w.row();
        for (int64_t f = 0; f < width; f += V::kLanes) {
          const Reg d = V::fma(V::load(q.exp_row + f), V::load(exp_key + f), one);  // may be inf
          V::store(hidden + f, V::fnma(two, V::reciprocal(V::min(huge, d)), one));
        }
      } else {
        const Real* k = t.keys + j * t.key_row;
        for (int64_t f = 0; f < width; f += V::kLanes)
          V::store(hidden + f, F::activate(w.p.activation, V::add(V::load(q.row + f), V::load(k + f))));
      }
    }
  }

  /// The argument of the elementwise form's activation.
  static Reg soft(const Real* q, const Real* k) { return V::mul(V::set1(kSoft), V::add(V::load(q), V::load(k))); }

  /// scores [count][channel_row], before cap and biases; hidden is used by the matrix form.
  static void score(const PreparedCall& w, int64_t h, const Query& q, const Tile& t, const int32_t* key, int count,
                    Real* hidden, Real* scores) {
    const int64_t width = w.p.width, channels = w.p.channels;
    if (w.matrix) {
      hide(w, q, t, key, count, hidden);
      product<Start::zero>({hidden, w.row(), 1}, w.transposed(h), channels, width, scores, w.channel_row(), count,
                           channels);
      return;
    }
    const Reg factor = V::set1(w.factor);
    for (int n = 0; n < count; ++n, scores += w.channel_row()) {
      const Real* k = t.keys + key[n] * t.key_row;
      for (int64_t c = 0; c < channels; c += V::kLanes)
        V::store(scores + c, V::mul(factor, F::activate(w.p.activation, soft(q.row + c, k + c))));
    }
  }

  /// Soft cap and bias: the steps between e and softmax.
  struct CapAndBias {
    Real scale, cap;
    explicit CapAndBias(const PreparedCall& w) : scale(w.p.scale), cap(w.p.soft_cap) {}
    /// grad: the derivative with respect to the score before scale.
    Reg operator()(Reg score, Real added, Reg& grad) const {
      grad = V::set1(scale);
      if (cap > 0) {
        const Reg t = F::tanh(V::mul(score, V::set1(1 / cap)));
        score = V::mul(V::set1(cap * Real(kLog2E)), t);
        grad = V::mul(grad, V::fnma(t, t, V::set1(1)));
      }
      return V::add(score, V::set1(added));
    }
  };

 private:
  static constexpr int64_t kKeys = 256;  // keys of a task

  static void exp_some_keys(const PreparedCall& w, int64_t task) {
    const auto& p = w.p;
    const int64_t last = min_of((task + 1) * kKeys, p.batch * p.key_heads * p.keys);
    for (int64_t at = task * kKeys; at < last; ++at) {
      const int64_t head = at / p.keys;
      const Real* row = p.key_rows.at(head / p.key_heads, head % p.key_heads, at % p.keys);
      w.tame[at] = exp_row(w, row, 1, w.exp_keys + at * w.row()) ? 1 : 0;
    }
  }

  /// Transposes one head's Wd and multiplies it by the factor; returns the bound of its scores.
  static Real transpose(const PreparedCall& w, int64_t h) {
    const auto& p = w.p;
    Real* to = w.to_scores + h * p.width * p.channels;
    const Real* from = w.stored(h);
    Real bound = 0;
    for (int64_t c = 0; c < p.channels; ++c) {
      Real row = 0;
      for (int64_t f = 0; f < p.width; ++f) {
        const Real x = from[c * p.width + f];
        row += size(x);
        to[f * p.channels + c] = x * w.factor;
      }
      bound = row <= bound ? bound : row;  // NaN stays NaN
    }
    return bound * F::bound(p.activation) * size(p.scale) * Real(kLog2E);
  }
};

}  // namespace heed::kernels::cpu
