// Scores by distance:   -|q - k|^2,   or with a root   -|q - k|
//
// Differences are computed feature by feature. The expansion 2 q.k - |q|^2 - |k|^2 would be one matrix product, but it
// suffers from cancellation if vectors are long compared with their distance: an offset of all data, distant clusters.

#pragma once

#include <cmath>

#include "heed/kernels/cpu/tiles/plain.h"

namespace heed::kernels::cpu {

/// c[r][n] = sum_f (a[r][f] - b[f][n])^2: the micro-kernel of product.h with differences in place of products. The sum
/// consists of partial sums of kPart features, since in one long sum every addition rounds at the size of the total.
template <class V>
struct SquaredDistances {
  using Real = typename V::Real;
  using Reg = typename V::Reg;

  /// Any number of rows; columns is a multiple of the lanes.
  [[gnu::noinline]] static void run(const Real* a, ptrdiff_t lda, const Real* b, int columns, int64_t width, Real* c,
                                    ptrdiff_t ldc, int rows) {
    constexpr int kStrip = V::kAcross * V::kLanes;
    for (int n = 0; n < columns;) {
      const int across = columns - n >= kStrip ? kStrip : V::kLanes;
      for (int r = 0; r < rows; r += kRows) {
        const Real* from = a + r * lda;
        Real* to = c + r * ldc + n;
        if (across == kStrip)
          some<V::kAcross>(from, lda, b + n, columns, width, to, ldc, rows - r);
        else
          some<1>(from, lda, b + n, columns, width, to, ldc, rows - r);
      }
      n += across;
    }
  }

 private:
  static constexpr int kRows = 6;
  static constexpr int64_t kPart = 16;

  template <int N>
  [[gnu::always_inline]] static void some(const Real* a, ptrdiff_t lda, const Real* b, ptrdiff_t ldb, int64_t width,
                                          Real* c, ptrdiff_t ldc, int rows) {
    switch (rows) {
      default:
        return block<6, N>(a, lda, b, ldb, width, c, ldc);
      case 5:
        return block<5, N>(a, lda, b, ldb, width, c, ldc);
      case 4:
        return block<4, N>(a, lda, b, ldb, width, c, ldc);
      case 3:
        return block<3, N>(a, lda, b, ldb, width, c, ldc);
      case 2:
        return block<2, N>(a, lda, b, ldb, width, c, ldc);
      case 1:
        return block<1, N>(a, lda, b, ldb, width, c, ldc);
    }
  }

  template <int R, int N>
  [[gnu::always_inline]] static void block(const Real* a, ptrdiff_t lda, const Real* b, ptrdiff_t ldb, int64_t width,
                                           Real* c, ptrdiff_t ldc) {
    for (int64_t first = 0; first < width; first += kPart) {
      const int64_t steps = width - first < kPart ? width - first : kPart;
      Reg sum[R][N];
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) sum[r][n] = V::zero();
      const Real* p = a + first;
#pragma GCC unroll 4
      for (int64_t i = 0; i < steps; ++i, ++p, b += ldb) {
        Reg x[N];
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) x[n] = V::load(b + n * V::kLanes);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          const Reg y = V::set1(p[r * lda]);
#pragma GCC unroll 4
          for (int n = 0; n < N; ++n) {
            const Reg apart = V::sub(y, x[n]);
            sum[r][n] = V::fma(apart, apart, sum[r][n]);
          }
        }
      }
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) {
          Real* to = c + r * ldc + n * V::kLanes;
          V::store(to, first == 0 ? sum[r][n] : V::add(V::load(to), sum[r][n]));
        }
    }
  }
};

/// out[j] = |a - b_j|^2 with lanes along the features and unpacked rows b_j.
template <class V>
struct RowDistances {
  using Real = typename V::Real;
  using Reg = typename V::Reg;

  static void run(const Real* a, const Real* b, ptrdiff_t ldb, int64_t width, int64_t count, Real* out) {
    int64_t j = 0;
    for (; j + 4 <= count; j += 4) some<4>(a, b + j * ldb, ldb, width, out + j);
    for (; j < count; ++j) some<1>(a, b + j * ldb, ldb, width, out + j);
  }

 private:
  template <int N>
  [[gnu::always_inline]] static void some(const Real* a, const Real* b, ptrdiff_t ldb, int64_t width, Real* out) {
    Reg sum[N];
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) sum[n] = V::zero();
    int64_t f = 0;
    for (; f + V::kLanes <= width; f += V::kLanes) {
      const Reg x = V::load(a + f);
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) add(V::sub(x, V::load(b + n * ldb + f)), sum[n]);
    }
    if (f < width) {
      const Reg x = V::load_some(a + f, width - f);
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) add(V::sub(x, V::load_some(b + n * ldb + f, width - f)), sum[n]);
    }
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) out[n] = V::sum(sum[n]);
  }
  [[gnu::always_inline]] static void add(Reg apart, Reg& sum) {
    sum = V::fma(apart, apart, sum);
  }
};

/// The gradient of |q - k| is taken as (q - k) / max(|q - k|, 1e-8): 0 where q = k.
template <class V, bool kRoot>
class DistanceTile final : public PlainTile<V> {
 public:
  using Tile = ScoreTile<V>;
  using typename ScoreTile<V>::Real;
  using Reg = typename V::Reg;
  using PlainTile<V>::PlainTile;

  void scores(int row, int rows, int64_t panel, int count, Real* s) override {
    const int64_t width = Tile::width_;
    const Real* q = this->query_rows_ + row * width;
    if (Tile::shared_.panels == nullptr) {
      const int64_t key = panel * kPanel, end = (panel + count) * kPanel, keys = Tile::p_.keys;
      const int64_t some = (end < keys ? end : keys) - key;
      for (int r = 0; r < rows; ++r) {
        Real* to = s + r * kTile;
        RowDistances<V>::run(q + r * width, Tile::key_row(key), Tile::p_.key_rows.row, Tile::p_.width, some, to);
        for (int64_t c = some; c % kPad != 0; ++c) to[c] = 0;
        negate(to, Panels<V>::padded(some));
      }
      return;
    }
    const Panels<V> packed = Tile::panels();
    for (int i = 0; i < count; ++i, s += kPanel) {
      const int n = packed.columns(panel + i);
      SquaredDistances<V>::run(q, width, packed.at(panel + i), n, Tile::p_.width, s, kTile, rows);
      for (int r = 0; r < rows; ++r) negate(s + r * kTile, n);
    }
  }

  /// With t = ds (q - k), times 1 / |q - k| for the root: dq -= t, dk += t. Without a root both lack a factor of 2,
  /// which close_query() and close_keys() apply.
  void gradients(const Real* ds, int ld, Real* query, Real* keys, bool fresh, Real*) override {
    if (fresh) Tile::clear_keys(keys);
    for (int first = 0; first < Tile::keys_; first += kSome) {
      const int count = Tile::keys_ - first < kSome ? Tile::keys_ - first : kSome;
      for (int r = 0; r < Tile::rows_; r += 4) {
        const Real* by = ds + r * ld + first;
        switch (Tile::rows_ - r) {
          default:
            carry<4>(by, ld, r, first, count, query, keys);
            break;
          case 3:
            carry<3>(by, ld, r, first, count, query, keys);
            break;
          case 2:
            carry<2>(by, ld, r, first, count, query, keys);
            break;
          case 1:
            carry<1>(by, ld, r, first, count, query, keys);
            break;
        }
      }
    }
  }

  void close_query(int64_t, Real* rows, int64_t count) const override {
    if (kRoot) return;
    for (int64_t i = 0; i < count * Tile::width_; i += V::kLanes)
      V::store(rows + i, V::add(V::load(rows + i), V::load(rows + i)));
  }
  void close_keys(int64_t head, Real* rows, int64_t count) const override { close_query(head, rows, count); }

 private:
  static constexpr int kSome = 32;  // keys whose rows and gradients fit the L1 cache

  void negate(Real* s, int64_t n) const {
    if (kRoot)
      for (int64_t c = 0; c < n; c += V::kLanes) V::store(s + c, V::sub(V::zero(), V::sqrt(V::load(s + c))));
    else
      for (int64_t c = 0; c < n; c += V::kLanes) V::store(s + c, V::sub(V::zero(), V::load(s + c)));
  }

  template <int R>
  void carry(const Real* ds, int ld, int row, int first, int count, Real* query, Real* keys) const {
    const int64_t width = Tile::width_;
    const Real *q = this->query_rows_ + row * width, *k = this->key_rows_ + first * width;
    Real *to_query = query + row * width, *to_keys = keys + first * width;
    alignas(64) Real by[kSome][R];
    for (int j = 0; j < count; ++j)
      for (int r = 0; r < R; ++r) by[j][r] = ds[r * ld + j];
    if (kRoot) over_distance<R>(q, k, count, by);
    for (int64_t f = 0; f < width; f += V::kLanes) {
      Reg x[R], sum[R];
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        x[r] = V::load(q + r * width + f);
        sum[r] = V::load(to_query + r * width + f);
      }
      for (int j = 0; j < count; ++j) {
        const Reg y = V::load(k + j * width + f);
        Reg all = V::load(to_keys + j * width + f);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
          const Reg apart = V::sub(x[r], y), factor = V::set1(by[j][r]);
          sum[r] = V::fnma(factor, apart, sum[r]);
          all = V::fma(factor, apart, all);
        }
        V::store(to_keys + j * width + f, all);
      }
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) V::store(to_query + r * width + f, sum[r]);
    }
  }

  template <int R>
  void over_distance(const Real* q, const Real* k, int count, Real (*by)[R]) const {
    Real square[kSome];
    for (int r = 0; r < R; ++r) {
      RowDistances<V>::run(q + r * Tile::width_, k, Tile::width_, Tile::width_, count, square);
      for (int j = 0; j < count; ++j) {
        const Real far = std::sqrt(square[j]);
        by[j][r] /= far < Real(1e-8) ? Real(1e-8) : far;
      }
    }
  }
};

}  // namespace heed::kernels::cpu
