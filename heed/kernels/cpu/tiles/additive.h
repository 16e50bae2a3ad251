// w . tanh(a + b) = sum w - 2 sum w / (1 + e^2a e^2b): no tanh, and one reciprocal for four features.
//
// Folded: with W = max |w| and u = w / W, dividing the query's e^2a by u makes every term 1 / d,
// d = 1/u + (e^2a / u) e^2b, and
//   1/d0 + 1/d1 + 1/d2 + 1/d3 = (n01 e23 + n23 e01) / (e01 e23),   n a sum and e a product of two d.
// |d| >= 1, so the product can only overflow; the same product over the largest entries bounds it. Four features of
// which one has |u| < 1e-6 keep their weights in the numerator (plain). If the product might overflow: one reciprocal
// for each feature. If e^2a or e^2b itself is out of range: tanh(a + b), from the sum. (A tile uses one of the three.)

#pragma once

#include <cmath>

#include "heed/kernels/cpu/simd/functions.h"
#include "heed/kernels/cpu/tiles/score_tile.h"

namespace heed::kernels::cpu {

template <class V>
class AdditiveTile final : public ScoreTile<V> {
 public:
  using typename ScoreTile<V>::Real;
  using Reg = typename V::Reg;
  using Tile = ScoreTile<V>;
  using F = Functions<V>;

  static constexpr bool kFloat = sizeof(Real) == 4;
  /// For |a| up to this, e^2a is a normal number with a normal reciprocal.
  static constexpr Real kReach = kFloat ? 43 : 350;
  /// Upper limit of a product of four d.
  static constexpr Real kMax = kFloat ? Real(0x1p125) : Real(0x1p1000);

  using Tile::Tile;
  using typename Tile::PanelKeys;

  static constexpr ScoreTraits kTraits{.reads_to_scores = true, .reads_exp_keys = true};
  static constexpr bool kFormulaOfGroup = true;  // the range of the group decides
  static LaterSteps<Real> later(const Problem<Real>& p) { return {Activation::identity, 1, p.keys}; }

  /// Constants derived from a head's w, once per call: [weights | shares | inverse | plain | total, max, bound].
  struct Fold {
    // w times scale;  u = w / max, or 1 if folded;  1/u, or 1 if not folded;  per four features: 1 if not folded
    const Real *weights, *shares, *inverse, *plain;
    Real total, max, bound;  // sum w, max |w|, sum |w|
  };
  static int64_t head_numbers(const Problem<Real>& p) { return 4 * Panels<V>::padded(p.width) + kPad; }
  static void fold(const Problem<Real>& p, int64_t head, Real* to) {
    const int64_t width = Panels<V>::padded(p.width);
    Real *weights = to, *shares = to + width, *inverse = to + 2 * width, *plain = to + 3 * width,
         *last = to + 4 * width;
    Real total = 0, max = 0, bound = 0;
    for (int64_t f = 0; f < width; ++f) {
      const Real w = f < p.width ? p.to_scores[head * p.to_scores_head + f] * p.scale : Real(0), size = std::fabs(w);
      weights[f] = w;
      total += w;
      bound += size;
      max = size > max ? size : max;
    }
    for (int64_t f = 0; f < width; f += 4) {
      bool fine = max > 0;
      for (int64_t i = f; i < f + 4; ++i) {
        shares[i] = max > 0 ? weights[i] / max : Real(0);
        fine = fine && std::fabs(shares[i]) > Real(1e-6);
      }
      for (int64_t i = f; i < f + 4; ++i) {
        inverse[i] = fine ? 1 / shares[i] : Real(1);
        if (fine) shares[i] = 1;
      }
      plain[f / 4] = fine ? Real(0) : Real(1);
    }
    last[0] = total;
    last[1] = max;
    last[2] = bound;
  }

  static Reg map_keys(Reg b) { return F::exp(V::add(b, b)); }
  /// Keys are packed as e^2b. Of a panel: the largest e^2b of each feature, then the largest |b| of all.
  static int64_t panel_numbers(const Problem<Real>& p) { return Panels<V>::padded(p.width) + V::kLanes; }
  static void pack(const Problem<Real>& p, const PanelKeys& keys, Real* to, Real* numbers) {
    Reg max = V::zero(), size = V::zero();
    Real reach = 0;
    const auto map = [&](Reg b) {
      size = V::max(V::abs(b), size);  // operand order: a NaN does not hide a large entry
      const Reg e = map_keys(b);
      max = V::max(e, max);
      return e;
    };
    const auto after = [&](int64_t f) {
      V::store(numbers + f, max);
      const Real top = V::reduce_max(size);
      reach = top > reach || top != top ? top : reach;
      max = size = V::zero();
    };
    Tile::pack_panel(p, keys, to, map, after);
    numbers[Panels<V>::padded(p.width)] = reach;
  }

  int group() const override { return 12; }
  Real bound() const override { return fold_.bound; }

  void begin(int64_t batch, int64_t head, int64_t query, int rows) override {
    Tile::begin(batch, head, query, rows);
    const int64_t width = Tile::width_;
    fold_ = folds(head);
    plain_ = Tile::buffer(Slot::query, 2 * kRowsMax * width);
    folded_ = plain_ + kRowsMax * width;
    const Real* from = Tile::p_.query.at(batch, head, query);
    const int64_t stride = Tile::p_.query.row;
    Tile::copy(from, stride, rows, plain_, [](Reg a) { return map_keys(a); });
    for (int r = 0; r < rows; ++r) {
      Reg max = V::zero();
      for (int64_t f = 0; f < width; f += V::kLanes) {
        const int64_t at = r * width + f, left = Tile::p_.width - f;
        V::store(folded_ + at, V::mul(V::load(plain_ + at), V::load(fold_.inverse + f)));
        const Reg a = left >= V::kLanes ? V::load(from + r * stride + f)
                                        : V::load_some(from + r * stride + f, left > 0 ? left : 0);
        max = V::max(V::abs(a), max);
      }
      reach_[r] = V::reduce_max(max);
    }
  }

  void scores(int row, int rows, int64_t panel, int count, Real* s) override {
    if (Tile::shared_.panels == nullptr) return from_rows(row, rows, panel, count, s);
    const Panels<V> packed = Tile::panels();
    for (int i = 0; i < count; ++i, s += kPanel) {
      const int n = packed.columns(panel + i);
      const Way way = way_of(row, rows, panel + i);
      if (way == Way::sums) {
        sums(row, rows, (panel + i) * kPanel, n, s);
        continue;
      }
      for (int r = 0; r < rows;)
        r += rows - r >= 4   ? some<4>(way, row + r, packed.at(panel + i), n, s + r * kTile)
             : rows - r >= 2 ? some<2>(way, row + r, packed.at(panel + i), n, s + r * kTile)
                             : some<1>(way, row + r, packed.at(panel + i), n, s + r * kTile);
    }
  }

  // With r = 1 / (1 + e^2a e^2b):  d tanh = 4 (r - r^2),  dw = sum ds (1 - 2 r). Lanes are features, so no sums across
  // lanes are needed; the factor 4 w is applied once to each finished row.
  void begin_keys(int64_t batch, int64_t key_head, int64_t key, int keys) override {
    Tile::keys_ = keys;
    keys_rows_ = exp_rows(Slot::keys, batch, key_head, key, keys);
  }

  void gradients(const Real* ds, int ld, Real* query, Real* keys, bool fresh, Real* to_scores) override {
    const int64_t width = Tile::width_;
    const int rows = Tile::rows_;
    bool in_reach = keys_rows_.in_reach;
    for (int r = 0; r < rows; ++r) in_reach = in_reach && reach_[r] <= kReach;
    Reg total = V::zero();
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < Tile::keys_; j += V::kLanes)
        total = V::add(total, V::load_some(ds + r * ld + j, Tile::keys_ - j));
    const Real all = V::sum(total);
    if (fresh && !in_reach) Tile::clear_keys(keys);
    if (in_reach && rows == 1) return one_row(ds, all, query, keys, fresh, to_scores);
    for (int64_t f = 0; f < width; f += V::kLanes) {
      Reg dw = V::zero();
      for (int r = 0; r < rows;) {
        if (!in_reach) {
          dw = careful(r, f, query, keys, ds + r * ld, dw);
          ++r;
        } else if (rows - r >= 4) {
          dw = stripe<4>(plain_ + r * width + f, query + r * width + f, keys + f, keys_rows_.rows + f, ds + r * ld, ld,
                         fresh && r == 0, dw);
          r += 4;
        } else {
          dw = stripe<1>(plain_ + r * width + f, query + r * width + f, keys + f, keys_rows_.rows + f, ds + r * ld, ld,
                         fresh && r == 0, dw);
          ++r;
        }
      }
      // sum ds (1 - 2 r)
      V::store(to_scores + f, V::add(V::load(to_scores + f), V::fnma(V::set1(2), dw, V::set1(all))));
    }
  }

  void close_query(int64_t head, Real* rows, int64_t count) const override {
    const Fold fold = folds(head);
    for (int64_t i = 0; i < count; ++i, rows += Tile::width_)
      for (int64_t f = 0; f < Tile::width_; f += V::kLanes)
        V::store(rows + f, V::mul(V::load(rows + f), V::mul(V::set1(4), V::load(fold.weights + f))));
  }
  void close_keys(int64_t head, Real* rows, int64_t count) const override { close_query(head, rows, count); }

 private:
  enum class Way { quads, singles, sums };

  struct KeyRows {  // rows of exp(2 b); raw: rows of b
    const Real *raw, *rows;
    int64_t step;
    bool in_reach;
  };
  KeyRows exp_rows(Slot slot, int64_t batch, int64_t key_head, int64_t key, int keys) const {
    const int64_t width = Tile::width_;
    KeyRows found{Tile::p_.key_rows.at(batch, key_head, key), nullptr, width, false};
    if (Tile::p_.exp_keys && Tile::p_.width == width) {
      found.rows = Tile::p_.exp_keys.at(batch, key_head, key);
      found.step = Tile::p_.exp_keys.row;
    } else {
      Real* rows = Tile::buffer(slot, keys * width);
      Tile::copy(found.raw, Tile::p_.key_rows.row, keys, rows, [](Reg b) { return map_keys(b); });
      for (int j = 0; j < keys; ++j)
        for (int64_t f = Tile::p_.width; f < width; ++f) rows[j * width + f] = 1;
      found.rows = rows;
    }
    Reg max = V::set1(1), min = max;
    for (int j = 0; j < keys; ++j)
      for (int64_t f = 0; f < width; f += V::kLanes) {
        const Reg e = V::load(found.rows + j * found.step + f);
        max = V::max(e, max);
        min = V::min(e, min);
      }
    const Real far = std::exp(2 * kReach);
    found.in_reach = V::reduce_max(max) <= far && -V::reduce_max(F::negative(min)) >= 1 / far;
    return found;
  }

  Fold folds(int64_t head) const {
    const int64_t width = Tile::width_;
    const Real* at = Tile::shared_.head_numbers + head * head_numbers(Tile::p_);
    return {at, at + width, at + 2 * width, at + 3 * width, at[4 * width], at[4 * width + 1], at[4 * width + 2]};
  }
  Reg some_of(const Real* row, int64_t f) const {
    return f + V::kLanes <= Tile::p_.width ? V::load(row + f) : V::load_some(row + f, Tile::p_.width - f);
  }

  Way way_of(int row, int rows, int64_t panel) const {
    const int64_t width = Tile::width_;
    const Real* top = Tile::numbers_of(panel);
    for (int r = row; r < row + rows; ++r)
      if (!(reach_[r] <= kReach)) return Way::sums;
    if (!(top[width] <= kReach)) return Way::sums;
    Real worst = 0;
    alignas(64) Real d[V::kLanes];
    for (int64_t f = 0; f < width; f += V::kLanes) {
      Reg q = V::zero();
      for (int r = row; r < row + rows; ++r) q = V::max(q, V::abs(V::load(folded_ + r * width + f)));
      V::store(d, V::fma(q, V::load(top + f), V::abs(V::load(fold_.inverse + f))));
      for (int i = 0; i < V::kLanes; i += 4) {
        const Real product = d[i] * d[i + 1] * (d[i + 2] * d[i + 3]);
        worst = product > worst || product != product ? product : worst;
      }
    }
    return worst < kMax ? Way::quads : Way::singles;
  }

  template <int R>
  int some(Way way, int row, const Real* k, int n, Real* s) const {
    for (int c = 0; c < n; c += V::kLanes)
      way == Way::quads ? quads<R>(row, k + c, n, s + c) : singles<R>(row, k + c, n, s + c);
    return R;
  }

  template <int R>
  [[gnu::noinline]] void quads(int row, const Real* k, int n, Real* s) const {
    const int64_t width = Tile::width_;
    const Real* q = folded_ + row * width;
    const int64_t groups = (Tile::p_.width + 3) / 4;
    Reg sum[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) sum[r] = V::zero();
    for (int64_t g = 0; g < groups; ++g, k += 4 * n) {
      const Real *inverse = fold_.inverse + 4 * g, *w = fold_.shares + 4 * g, *e = q + 4 * g;
      const Reg k0 = V::load(k), k1 = V::load(k + n), k2 = V::load(k + 2 * n), k3 = V::load(k + 3 * n);
      if (fold_.plain[g] != 0) {
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r, e += width) {
          const Reg d0 = V::fma(V::set1(e[0]), k0, V::set1(1)), d1 = V::fma(V::set1(e[1]), k1, V::set1(1));
          const Reg d2 = V::fma(V::set1(e[2]), k2, V::set1(1)), d3 = V::fma(V::set1(e[3]), k3, V::set1(1));
          const Reg n01 = V::fma(V::set1(w[0]), d1, V::mul(V::set1(w[1]), d0)), e01 = V::mul(d0, d1);
          const Reg n23 = V::fma(V::set1(w[2]), d3, V::mul(V::set1(w[3]), d2)), e23 = V::mul(d2, d3);
          sum[r] = V::fma(V::fma(n01, e23, V::mul(n23, e01)), V::reciprocal(V::mul(e01, e23)), sum[r]);
        }
        continue;
      }
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r, e += width) {
        const Reg d0 = V::fma(V::set1(e[0]), k0, V::set1(inverse[0])),
                  d1 = V::fma(V::set1(e[1]), k1, V::set1(inverse[1]));
        const Reg d2 = V::fma(V::set1(e[2]), k2, V::set1(inverse[2])),
                  d3 = V::fma(V::set1(e[3]), k3, V::set1(inverse[3]));
        const Reg n01 = V::add(d0, d1), n23 = V::add(d2, d3), e01 = V::mul(d0, d1), e23 = V::mul(d2, d3);
        sum[r] = V::fma(V::fma(n01, e23, V::mul(n23, e01)), V::reciprocal(V::mul(e01, e23)), sum[r]);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) V::store(s + r * kTile, V::fnma(V::set1(2 * fold_.max), sum[r], V::set1(fold_.total)));
  }

  template <int R>
  [[gnu::noinline]] void singles(int row, const Real* k, int n, Real* s) const {
    const int64_t width = Tile::width_;
    const Real* q = plain_ + row * width;
    Reg sum[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) sum[r] = V::zero();
    for (int64_t f = 0; f < Tile::p_.width; ++f, k += n) {
      const Reg key = V::load(k), w = V::set1(fold_.weights[f]);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const Reg d = V::min(V::set1(kMax), V::fma(V::set1(q[r * width + f]), key, V::set1(1)));
        sum[r] = V::fma(w, V::reciprocal(d), sum[r]);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) V::store(s + r * kTile, V::fnma(V::set1(2), sum[r], V::set1(fold_.total)));
  }

  /// tanh(a + b) from the sum, for tiles in which e^2a or e^2b is out of range.
  [[gnu::noinline]] void sums(int row, int rows, int64_t key, int columns, Real* s) const {
    for (int r = 0; r < rows; ++r) {
      const Real* a = Tile::p_.query.at(Tile::batch_, Tile::head_, Tile::query_ + row + r);
      for (int c = 0; c < columns; ++c) {
        if (key + c >= Tile::p_.keys) {
          s[r * kTile + c] = 0;
          continue;
        }
        const Real* b = Tile::key_row(key + c);
        Reg sum = V::zero();
        for (int64_t f = 0; f < Tile::p_.width; f += V::kLanes)
          sum = V::fma(some_of(Tile::p_.to_scores + Tile::head_ * Tile::p_.to_scores_head, f),
                       F::tanh(V::add(some_of(a, f), some_of(b, f))), sum);
        s[r * kTile + c] = V::sum(sum) * Tile::p_.scale;
      }
    }
  }

  /// Few queries, unpacked keys: lanes are features.
  void from_rows(int row, int rows, int64_t panel, int count, Real* s) {
    const int64_t first = panel * kPanel, end = first + count * kPanel;
    const int64_t last = end < Tile::p_.keys ? end : Tile::p_.keys, width = Tile::width_;
    for (int64_t key = first; key < last; key += kKeyRows) {
      const int keys = static_cast<int>(last - key < kKeyRows ? last - key : kKeyRows);
      const KeyRows found = Tile::key_row(key) == keys_rows_.raw && keys <= Tile::keys_
                                ? keys_rows_
                                : exp_rows(Slot::second, Tile::batch_, Tile::key_head_, key, keys);
      for (int r = 0; r < rows; ++r) {
        Real* to = s + r * kTile + (key - first);
        if (!(reach_[row + r] <= kReach && found.in_reach)) {
          sums(row + r, 1, key, keys, to);
          continue;
        }
        const Real* q = plain_ + (row + r) * width;
        int j = 0;
        for (; j + 4 <= keys; j += 4) pairs<4>(q, found.rows + j * found.step, found.step, to + j);
        for (; j < keys; ++j) pairs<1>(q, found.rows + j * found.step, found.step, to + j);
      }
    }
    for (int r = 0; r < rows; ++r)
      for (int64_t c = last - first; c % kPad != 0; ++c) s[r * kTile + c] = 0;
  }
  static constexpr int kKeyRows = 64;

  /// sum w - 2 sum w / (1 + e^2a e^2b)
  template <int N>
  void pairs(const Real* q, const Real* k, int64_t step, Real* to) const {
    const Reg one = V::set1(1), max = V::set1(kMax);
    Reg sum[N];
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) sum[n] = V::zero();
    for (int64_t f = 0; f < Tile::width_; f += V::kLanes) {
      const Reg e = V::load(q + f), w = V::load(fold_.weights + f);
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) {
        const Reg d = V::min(max, V::fma(e, V::load(k + n * step + f), one));
        sum[n] = V::fma(w, V::reciprocal(d), sum[n]);
      }
    }
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) to[n] = fold_.total - 2 * V::sum(sum[n]);
  }

  // Not inlined: inside the whole backward pass its addresses would no longer fit the registers.
  template <int R>
  [[gnu::noinline]] Reg stripe(const Real* q, Real* dq, Real* dk, const Real* k, const Real* ds, int ld, bool fresh,
                               Reg dw) const {
    const int64_t width = Tile::width_;
    Reg e[R], de[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      e[r] = V::load(q + r * width);
      de[r] = V::load(dq + r * width);
    }
    for (int j = 0; j < Tile::keys_; ++j, k += keys_rows_.step, dk += width) {
      const Reg key = V::load(k);
      Reg dkey = fresh ? V::zero() : V::load(dk);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const Reg x = V::reciprocal(V::min(V::set1(kMax), V::fma(e[r], key, V::set1(1))));
        const Reg t = V::mul(x, V::set1(ds[r * ld + j])), u = V::fnma(t, x, t);
        dw = V::add(dw, t);
        de[r] = V::add(de[r], u);
        dkey = V::add(dkey, u);
      }
      V::store(dk, dkey);
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) V::store(dq + r * width, de[r]);
    return dw;
  }

  /// One query: four keys at a time, along the features, so that memory is read and written sequentially.
  void one_row(const Real* ds, Real all, Real* query, Real* keys, bool fresh, Real* to_scores) const {
    for (int64_t f = 0; f < Tile::width_; f += V::kLanes)
      V::store(to_scores + f, V::add(V::load(to_scores + f), V::set1(all)));
    int j = 0;
    for (; j + 4 <= Tile::keys_; j += 4) along<4>(ds, j, query, keys, fresh, to_scores);
    for (; j < Tile::keys_; ++j) along<1>(ds, j, query, keys, fresh, to_scores);
  }
  template <int N>
  void along(const Real* ds, int key, Real* query, Real* keys, bool fresh, Real* to_scores) const {
    const int64_t width = Tile::width_, step = keys_rows_.step;
    const Real* k = keys_rows_.rows + key * step;
    Real* dk = keys + key * width;
    Reg grad[N];
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) grad[n] = V::set1(ds[key + n]);
    for (int64_t f = 0; f < width; f += V::kLanes) {
      const Reg e = V::load(plain_ + f);
      Reg dq = V::load(query + f), dw = V::zero();
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) {
        const Reg x = V::reciprocal(V::min(V::set1(kMax), V::fma(e, V::load(k + n * step + f), V::set1(1))));
        const Reg t = V::mul(x, grad[n]), u = V::fnma(t, x, t);
        Real* to = dk + n * width + f;
        V::store(to, fresh ? u : V::add(V::load(to), u));
        dw = V::add(dw, t);
        dq = V::add(dq, u);
      }
      V::store(query + f, dq);
      V::store(to_scores + f, V::fnma(V::set1(2), dw, V::load(to_scores + f)));
    }
  }

  /// As stripe(), for one row, from tanh(a + b).
  [[gnu::noinline]] Reg careful(int row, int64_t f, Real* query, Real* keys, const Real* ds, Reg dw) const {
    const int64_t width = Tile::width_;
    if (f >= Tile::p_.width) return dw;
    const Reg a = some_of(Tile::p_.query.at(Tile::batch_, Tile::head_, Tile::query_ + row), f);
    Reg de = V::load(query + row * width + f);
    for (int j = 0; j < Tile::keys_; ++j) {
      const Reg t = F::tanh(V::add(a, some_of(keys_rows_.raw + j * Tile::p_.key_rows.row, f)));
      const Reg grad = V::set1(ds[j]), u = V::mul(V::mul(grad, V::set1(Real(0.25))), V::fnma(t, t, V::set1(1)));
      dw = V::fma(grad, V::mul(V::set1(Real(0.5)), V::sub(V::set1(1), t)), dw);  // r = (1 - tanh) / 2
      de = V::add(de, u);
      V::store(keys + j * width + f, V::add(V::load(keys + j * width + f), u));
    }
    V::store(query + row * width + f, de);
    return dw;
  }

  Fold fold_{};
  Real reach_[kRowsMax] = {};
  Real *plain_ = nullptr, *folded_ = nullptr;
  KeyRows keys_rows_{};
};

}  // namespace heed::kernels::cpu
