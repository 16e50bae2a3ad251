// q . k: the micro-kernel on packed keys, or dot products with unpacked rows if there are few queries.

#pragma once

#include <cmath>

#include "heed/kernels/cpu/tiles/product.h"
#include "heed/kernels/cpu/tiles/score_tile.h"

namespace heed::kernels::cpu {

template <class V>
class DotTile final : public ScoreTile<V> {
 public:
  using typename ScoreTile<V>::Real;
  using typename ScoreTile<V>::PanelKeys;
  using ScoreTile<V>::ScoreTile;
  using Tile = ScoreTile<V>;

  /// An activation applies to the product. The scale is folded into the query, unless an activation comes before it.
  static LaterSteps<Real> later(const Problem<Real>& p) {
    return {p.activation, scales(p) ? Real(1) : p.scale, p.keys};
  }
  /// The largest |key|^2 of the panel; NaN if one is not finite.
  static int64_t panel_numbers(const Problem<Real>&) { return 1; }
  static void pack(const Problem<Real>& p, const PanelKeys& keys, Real* to, Real* numbers) {
    Tile::pack(p, keys, to, numbers);
    *numbers = longest_square(to, Panels<V>::padded(keys.count), p.width);
  }

  int group() const override { return kGroup; }

  void begin(int64_t batch, int64_t head, int64_t query, int rows) override {
    Tile::begin(batch, head, query, rows);
    query_rows_ = Tile::buffer(Slot::query, kRowsMax * Tile::width_);
    const auto by = V::set1(scales(Tile::p_) ? Tile::p_.scale : Real(1));
    Tile::copy(Tile::p_.query.at(batch, head, query), Tile::p_.query.row, rows, query_rows_,
               [by](typename V::Reg x) { return V::mul(x, by); });
  }

  /// |q . k| <= |q| |k|
  Real bound() const override {
    if (Tile::shared_.panels == nullptr) return Tile::bound();
    Real max = 0;
    for (int r = 0; r < Tile::rows_; ++r) {
      auto sum = V::zero();
      for (int64_t f = 0; f < Tile::width_; f += V::kLanes) {
        const auto x = V::load(query_rows_ + r * Tile::width_ + f);
        sum = V::fma(x, x, sum);
      }
      const Real square = V::sum(sum);
      max = square > max || square != square ? square : max;
    }
    Real longest = 0;
    for (int64_t panel = 0; panel * kPanel < Tile::p_.keys; ++panel) {
      const Real square = *Tile::numbers_of(panel);
      longest = square > longest || square != square ? square : longest;
    }
    return std::sqrt(max) * std::sqrt(longest);
  }

  void scores(int row, int rows, int64_t panel, int count, Real* s) override {
    const int64_t width = Tile::width_;
    if (Tile::shared_.panels == nullptr) {
      const int64_t key = panel * kPanel, end = (panel + count) * kPanel, keys = Tile::p_.keys;
      const int64_t some = (end < keys ? end : keys) - key;
      RowDots<V>::run(query_rows_ + row * width, width, Tile::key_row(key), Tile::p_.key_rows.row, Tile::p_.width, rows,
                      some, s, kTile);
      for (int r = 0; r < rows; ++r)
        for (int64_t c = some; c % kPad != 0; ++c) s[r * kTile + c] = 0;
      return;
    }
    const Panels<V> packed = Tile::panels();
    for (int i = 0; i < count; ++i) {
      const int n = packed.columns(panel + i);
      Product<V, Start::zero>::run({query_rows_ + row * width, width, 1}, packed.at(panel + i), n, Tile::p_.width,
                                   s + i * kPanel, kTile, rows, n);
    }
  }

  bool fuses_exp2() const override { return V::kFusesExp2 && Tile::shared_.panels != nullptr; }
  void exp2(int row, int rows, int64_t panel, int count, Real minus_top, Real* s, Real* sums) override {
    const Panels<V> packed = Tile::panels();
    for (int i = 0; i < count; ++i) {
      const int n = packed.columns(panel + i);
      Product<V, Start::zero, Last::exp2>::run({query_rows_ + row * Tile::width_, Tile::width_, 1},
                                               packed.at(panel + i), n, Tile::p_.width, s + i * kPanel, kTile, rows, n,
                                               &minus_top, sums);
    }
  }

  void begin_keys(int64_t batch, int64_t key_head, int64_t key, int keys) override {
    Tile::keys_ = keys;
    key_rows_ = Tile::p_.key_rows.at(batch, key_head, key);
    key_step_ = Tile::p_.key_rows.row;
    if (Tile::p_.width == Tile::width_) return;
    Real* rows = Tile::buffer(Slot::keys, keys * Tile::width_);
    Tile::copy(key_rows_, key_step_, keys, rows, [](typename V::Reg x) { return x; });
    key_rows_ = rows;
    key_step_ = Tile::width_;
  }

  void gradients(const Real* ds, int ld, Real* query, Real* keys, bool fresh, Real*) override {
    const int64_t width = Tile::width_;
    Product<V, Start::add>::run({ds, ld, 1}, key_rows_, key_step_, Tile::keys_, query, width, Tile::rows_, width);
    const Left<Real> by_key{ds, 1, ld};
    if (fresh)
      Product<V, Start::zero>::run(by_key, query_rows_, width, Tile::rows_, keys, width, Tile::keys_, width);
    else
      Product<V, Start::add>::run(by_key, query_rows_, width, Tile::rows_, keys, width, Tile::keys_, width);
  }

  void close_query(int64_t, Real* rows, int64_t count) const override {
    if (!scales(Tile::p_) || Tile::p_.scale == 1) return;
    const auto by = V::set1(Tile::p_.scale);
    for (int64_t i = 0; i < count * Tile::width_; i += V::kLanes) V::store(rows + i, V::mul(V::load(rows + i), by));
  }

 private:
  static bool scales(const Problem<Real>& p) { return p.activation == Activation::identity; }
  static Real longest_square(const Real* panel, int64_t n, int64_t width) {
    Real max = 0;
    for (int64_t c = 0; c < n; c += V::kLanes) {
      auto sum = V::zero();
      for (int64_t f = 0; f < width; ++f) sum = V::fma(V::load(panel + f * n + c), V::load(panel + f * n + c), sum);
      const Real square = V::reduce_max(sum), non_finite = V::sum(V::mul(sum, V::zero()));
      max = square > max ? square : max;
      if (non_finite != 0) max = non_finite;  // NaN
    }
    return max;
  }

  Real* query_rows_ = nullptr;
  const Real* key_rows_ = nullptr;
  int64_t key_step_ = 0;
};

}  // namespace heed::kernels::cpu
