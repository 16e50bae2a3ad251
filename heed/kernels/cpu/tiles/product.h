// The one micro-kernel under both products of the forward pass and all five of the backward pass:
//
//   c[r][n] = start + sum_i a[r][i] b[i][n]
//
// R rows of a are broadcast against N registers per row of b and c. Forced inline: a call would spill the sums.

#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/kernels/cpu/simd/numbers.h"

namespace heed::kernels::cpu {

template <typename Real>
struct Left {  // the broadcast operand: a[r][i] = at[r row + i step]
  const Real* at;
  ptrdiff_t row, step;
};

enum class Start { zero, add, scaled };  // start is 0;  c[r][n];  c[r][n] factor[r]
enum class Last { as_is, exp2 };  // stores x;  or 2^(x log2(e) + factor[0]), and adds its row sums to sums[r][lane]

template <class V, Start kStart, Last kLast = Last::as_is>
struct Product {
  using Real = typename V::Real;
  using Reg = typename V::Reg;

  /// Any number of rows; width is a multiple of the lanes. Blocks of six rows by kAcross registers are visited down the
  /// rows, so that a strip of b is reused by all of them, or along the columns if a is the larger operand.
  [[gnu::noinline]] static void run(Left<Real> a, const Real* b, ptrdiff_t ldb, int64_t steps, Real* c, ptrdiff_t ldc,
                                    int rows, int64_t width, const Real* factor = nullptr, Real* sums = nullptr) {
    const bool down = rows <= width;
    int r = 0;
    int64_t n = 0;
    while (r < rows && n < width) {
      const int64_t across = width - n >= kStrip ? kStrip : V::kLanes;
      const Left<Real> left{a.at + r * a.row, a.row, a.step};
      const Real* by = kStart == Start::scaled ? factor + r : factor;
      Real* total = sums == nullptr ? nullptr : sums + r * V::kLanes;
      if (across == kStrip)
        some<V::kAcross>(left, b + n, ldb, steps, c + r * ldc + n, ldc, rows - r, by, total);
      else
        some<1>(left, b + n, ldb, steps, c + r * ldc + n, ldc, rows - r, by, total);
      if (down) {
        r += kRows;
        if (r < rows) continue;
        r = 0;
        n += across;
      } else {
        n += across;
        if (n < width) continue;
        n = 0;
        r += kRows;
      }
    }
  }

 private:
  static constexpr int kRows = 6;
  static constexpr int64_t kStrip = V::kAcross * V::kLanes;

  template <int N>
  [[gnu::always_inline]] static void some(Left<Real> a, const Real* b, ptrdiff_t ldb, int64_t steps, Real* c,
                                          ptrdiff_t ldc, int rows, const Real* factor, Real* sums) {
    switch (rows) {
      default:
        return block<6, N>(a, b, ldb, steps, c, ldc, factor, sums);
      case 5:
        return block<5, N>(a, b, ldb, steps, c, ldc, factor, sums);
      case 4:
        return block<4, N>(a, b, ldb, steps, c, ldc, factor, sums);
      case 3:
        return block<3, N>(a, b, ldb, steps, c, ldc, factor, sums);
      case 2:
        return block<2, N>(a, b, ldb, steps, c, ldc, factor, sums);
      case 1:
        return block<1, N>(a, b, ldb, steps, c, ldc, factor, sums);
    }
  }

  template <int R, int N>
  [[gnu::always_inline]] static void block(Left<Real> a, const Real* b, ptrdiff_t ldb, int64_t steps, Real* c,
                                           ptrdiff_t ldc, const Real* factor, Real* sums) {
    Reg sum[R][N];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) {
        if constexpr (kStart == Start::zero)
          sum[r][n] = V::zero();
        else
          sum[r][n] = V::load(c + r * ldc + n * V::kLanes);
        if constexpr (kStart == Start::scaled) sum[r][n] = V::mul(sum[r][n], V::set1(factor[r]));
      }
    const Real* p = a.at;
#pragma GCC unroll 4  // fewer iterations, so the branch predictor learns the end of a short sum
    for (int64_t i = 0; i < steps; ++i, p += a.step, b += ldb) {
      Reg x[N];
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) x[n] = V::load(b + n * V::kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const Reg y = V::set1(p[r * a.row]);
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) sum[r][n] = V::fma(y, x[n], sum[r][n]);
      }
    }
    if constexpr (kLast == Last::exp2) {
      const Reg top = V::set1(*factor);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        Reg total = V::load(sums + r * V::kLanes);
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) {
          sum[r][n] = V::exp2_below(V::fma(sum[r][n], V::set1(Real(kLog2E)), top));
          total = V::add(total, sum[r][n]);
        }
        V::store(sums + r * V::kLanes, total);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) V::store(c + r * ldc + n * V::kLanes, sum[r][n]);
  }
};

/// c[n] = factor c[n] + sum_i a[i] b[i][n] for a single row. Reads four rows of b at a time sequentially; the
/// micro-kernel would read b in strips of columns.
template <class V>
struct RowSum {
  using Real = typename V::Real;
  using Reg = typename V::Reg;

  static void run(const Real* a, const Real* b, ptrdiff_t ldb, int64_t steps, Real* c, int64_t width, Real factor) {
    int64_t i = 0;
    if (factor != 1)
      for (int64_t n = 0; n < width; n += V::kLanes) V::store(c + n, V::mul(V::load(c + n), V::set1(factor)));
    for (; i + 4 <= steps; i += 4) some<4>(a + i, b + i * ldb, ldb, c, width);
    for (; i < steps; ++i) some<1>(a + i, b + i * ldb, ldb, c, width);
  }

 private:
  template <int N>
  [[gnu::always_inline]] static void some(const Real* a, const Real* b, ptrdiff_t ldb, Real* c, int64_t width) {
    Reg by[N];
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) by[n] = V::set1(a[n]);
    for (int64_t f = 0; f < width; f += V::kLanes) {
      Reg sum = V::load(c + f);
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) sum = V::fma(by[n], V::load(b + n * ldb + f), sum);
      V::store(c + f, sum);
    }
  }
};

/// out[i][j] = a_i . b_j with lanes along the features: for a few rows of a against unpacked rows of b.
template <class V>
struct RowDots {
  using Real = typename V::Real;
  using Reg = typename V::Reg;

  static void run(const Real* a, ptrdiff_t lda, const Real* b, ptrdiff_t ldb, int64_t width, int rows, int64_t count,
                  Real* out, ptrdiff_t ldo) {
    for (int i = 0; i < rows; ++i, a += lda, out += ldo) {
      int64_t j = 0;
      for (; j + 4 <= count; j += 4) some<4>(a, b + j * ldb, ldb, width, out + j);
      for (; j < count; ++j) some<1>(a, b + j * ldb, ldb, width, out + j);
    }
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
      for (int n = 0; n < N; ++n) sum[n] = V::fma(x, V::load(b + n * ldb + f), sum[n]);
    }
    if (f < width) {
      const Reg x = V::load_some(a + f, width - f);
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) sum[n] = V::fma(x, V::load_some(b + n * ldb + f, width - f), sum[n]);
    }
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) out[n] = V::sum(sum[n]);
  }
};

}  // namespace heed::kernels::cpu
