// Scores computed directly, feature by feature. Keys are always packed. Lanes: keys in forward, features in backward.
//
//   hidden     w . act(a + b)          table   the scores that the query itself holds          zero   none

#pragma once

#include <cmath>

#include "heed/kernels/cpu/simd/functions.h"
#include "heed/kernels/cpu/tiles/score_tile.h"

namespace heed::kernels::cpu {

/// Base of hidden and distance (distance.h): copies of the block's queries and, in backward, of the keys.
template <class V>
class PlainTile : public ScoreTile<V> {
 public:
  using typename ScoreTile<V>::Real;
  using Reg = typename V::Reg;
  using Tile = ScoreTile<V>;
  using Tile::Tile;

  int group() const override { return 12; }

  void begin(int64_t batch, int64_t head, int64_t query, int rows) override {
    Tile::begin(batch, head, query, rows);
    query_rows_ = Tile::buffer(Slot::query, kRowsMax * Tile::width_);
    Tile::copy(Tile::p_.query.at(batch, head, query), Tile::p_.query.row, rows, query_rows_, [](Reg x) { return x; });
  }
  void begin_keys(int64_t batch, int64_t key_head, int64_t key, int keys) override {
    Tile::keys_ = keys;
    key_rows_ = Tile::buffer(Slot::keys, keys * Tile::width_);
    Tile::copy(Tile::p_.key_rows.at(batch, key_head, key), Tile::p_.key_rows.row, keys, key_rows_,
               [](Reg x) { return x; });
  }

 protected:
  Real* query_rows_ = nullptr;
  Real* key_rows_ = nullptr;
};

template <class V>
class HiddenTile final : public PlainTile<V> {
 public:
  using Tile = ScoreTile<V>;
  using typename ScoreTile<V>::Real;
  using Reg = typename V::Reg;
  using F = Functions<V>;
  using PlainTile<V>::PlainTile;

  static constexpr ScoreTraits kTraits{.reads_to_scores = true};
  static constexpr Packing kPacking = Packing::always;
  static LaterSteps<Real> later(const Problem<Real>& p) { return {Activation::identity, 1, p.keys}; }

  Real bound() const override {
    Real sum = 0;
    for (int64_t f = 0; f < Tile::p_.width; ++f) sum += std::fabs(weight(Tile::head_, f));
    return sum == 0 ? Real(0) : sum * F::bound(Tile::p_.activation);
  }

  void scores(int row, int rows, int64_t panel, int count, Real* s) override {
    const Panels<V> packed = Tile::panels();
    for (int i = 0; i < count; ++i, s += kPanel) {
      const int n = packed.columns(panel + i);
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < n; c += V::kLanes) {
          const Real *q = this->query_rows_ + (row + r) * Tile::width_, *k = packed.at(panel + i) + c;
          Reg sum = V::zero();
          for (int64_t f = 0; f < Tile::p_.width; ++f)
            sum = V::fma(V::set1(weight(Tile::head_, f)),
                         F::activate(Tile::p_.activation, V::add(V::set1(q[f]), V::load(k + f * n))), sum);
          V::store(s + r * kTile + c, sum);
        }
    }
  }

  void gradients(const Real* ds, int ld, Real* query, Real* keys, bool fresh, Real* to_scores) override {
    const int64_t width = Tile::width_;
    if (fresh) Tile::clear_keys(keys);
    for (int r = 0; r < Tile::rows_; ++r)
      for (int j = 0; j < Tile::keys_; ++j) {
        const Real grad = ds[r * ld + j];
        if (grad == 0) continue;
        for (int64_t f = 0; f < width; f += V::kLanes) {
          const Reg x = V::add(V::load(this->query_rows_ + r * width + f), V::load(this->key_rows_ + j * width + f));
          const Reg t = V::mul(V::set1(grad), F::activation_backward(Tile::p_.activation, x));
          add(query + r * width + f, t);
          add(keys + j * width + f, t);
          add(to_scores + f, V::mul(V::set1(grad), F::activate(Tile::p_.activation, x)));
        }
      }
  }

  void close_query(int64_t head, Real* rows, int64_t count) const override {
    for (int64_t i = 0; i < count; ++i, rows += Tile::width_)
      for (int64_t f = 0; f < Tile::width_; ++f) rows[f] *= f < Tile::p_.width ? weight(head, f) : Real(0);
  }
  void close_keys(int64_t head, Real* rows, int64_t count) const override { close_query(head, rows, count); }

 private:
  Real weight(int64_t head, int64_t f) const {
    return Tile::p_.to_scores[head * Tile::p_.to_scores_head + f] * Tile::p_.scale;
  }
  static void add(Real* to, Reg x) { V::store(to, V::add(V::load(to), x)); }
};

template <class V>
class TableTile final : public ScoreTile<V> {
 public:
  using Tile = ScoreTile<V>;
  using typename ScoreTile<V>::Real;
  using Tile::Tile;

  static constexpr ScoreTraits kTraits{.reads_keys = false};
  static constexpr Packing kPacking = Packing::never;
  static LaterSteps<Real> later(const Problem<Real>& p) {
    return {Activation::identity, p.scale, p.width < p.keys ? p.width : p.keys};
  }

  int group() const override { return 6; }

  void scores(int row, int rows, int64_t panel, int count, Real* s) override {
    const int64_t key = panel * kPanel,
                  end = key + count * kPanel < Tile::p_.keys ? key + count * kPanel : Tile::p_.keys;
    for (int r = 0; r < rows; ++r) {
      const Real* from = Tile::p_.query.at(Tile::batch_, Tile::head_, Tile::query_ + row + r);
      for (int64_t c = 0; c < Panels<V>::padded(end - key); ++c)
        s[r * kTile + c] = key + c < Tile::p_.width && key + c < end ? from[key + c] : Real(0);
    }
  }

  void begin_keys(int64_t, int64_t, int64_t key, int keys) override {
    Tile::key_ = key;
    Tile::keys_ = keys;
  }
  void gradients(const Real* ds, int ld, Real* query, Real*, bool, Real*) override {
    for (int r = 0; r < Tile::rows_; ++r)
      for (int j = 0; j < Tile::keys_ && Tile::key_ + j < Tile::p_.width; ++j)
        query[r * Tile::width_ + Tile::key_ + j] += ds[r * ld + j];
  }
};

/// Scores of 0, for a state that does not read them: only the mask and biases are applied.
template <class V>
class ZeroTile final : public ScoreTile<V> {
 public:
  using Tile = ScoreTile<V>;
  using typename ScoreTile<V>::Real;
  using Tile::Tile;

  static constexpr ScoreTraits kTraits{.reads_keys = false};
  static constexpr Packing kPacking = Packing::never;

  int group() const override { return kGroup; }
  void scores(int, int rows, int64_t panel, int count, Real* s) override {
    const int64_t key = panel * kPanel, end = key + count * kPanel, last = end < Tile::p_.keys ? end : Tile::p_.keys;
    for (int r = 0; r < rows; ++r, s += kTile)
      for (int64_t c = 0; c < Panels<V>::padded(last - key); c += V::kLanes) V::store(s + c, V::zero());
  }
  void begin_keys(int64_t, int64_t, int64_t, int) override {}
  void gradients(const Real*, int, Real*, Real*, bool, Real*) override {}
};

}  // namespace heed::kernels::cpu
