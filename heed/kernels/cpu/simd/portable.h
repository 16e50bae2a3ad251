// The portable instruction set: vector extensions of the compiler, on any machine. Also the only one for double.
//
// An instruction set is a struct of static functions; a kernel is a template over it and contains no intrinsics.
//   Real, Reg, Mask    a number, a register of kLanes numbers, a boolean per lane
//   kFusesExp2         whether the micro-kernel may also apply exp2 to its sums (there are enough registers)
//   kAcross            columns of the micro-kernel in registers: 6 x kAcross sums must fit the register file

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "heed/kernels/cpu/simd/numbers.h"

namespace heed::kernels::cpu {

template <typename R>
struct Portable {
  using Real = R;
  using Bits = std::conditional_t<sizeof(R) == 4, int32_t, int64_t>;
  static constexpr int kLanes = 4, kAcross = 2;
  static constexpr bool kFusesExp2 = true;
  static constexpr auto kName = "portable";
  typedef R Reg __attribute__((vector_size(kLanes * sizeof(R))));
  typedef Bits Mask __attribute__((vector_size(kLanes * sizeof(R))));

  static Reg load(const Real* p) {
    Reg x;
    std::memcpy(&x, p, sizeof x);
    return x;
  }
  static void store(Real* p, Reg x) { std::memcpy(p, &x, sizeof x); }
  /// Loads the first n lanes; the others are 0.
  static Reg load_some(const Real* p, int64_t n) {
    Reg x{};
    for (int i = 0; i < kLanes && i < n; ++i) x[i] = p[i];
    return x;
  }
  static void store_some(Real* p, Reg x, int64_t n) {
    for (int i = 0; i < kLanes && i < n; ++i) p[i] = x[i];
  }
  static Reg set1(Real x) { return Reg{x, x, x, x}; }
  static Reg zero() { return Reg{}; }
  static Reg iota(Real first) { return set1(first) + Reg{0, 1, 2, 3}; }
  static Reg add(Reg a, Reg b) { return a + b; }
  static Reg sub(Reg a, Reg b) { return a - b; }
  static Reg mul(Reg a, Reg b) { return a * b; }
  static Reg div(Reg a, Reg b) { return a / b; }
  /// b if either operand is NaN, as in SSE and AVX.
  static Reg max(Reg a, Reg b) { return a > b ? a : b; }
  static Reg min(Reg a, Reg b) { return a < b ? a : b; }
  static Reg abs(Reg x) { return x < 0 ? -x : x; }
  static Reg sqrt(Reg x) {
    return each(x, [](Real y) { return std::sqrt(y); });
  }
  static Reg fma(Reg a, Reg b, Reg c) { return a * b + c; }   //  a b + c
  static Reg fnma(Reg a, Reg b, Reg c) { return c - a * b; }  // -a b + c
  static Reg reciprocal(Reg x) { return 1 / x; }
  static Reg exp2(Reg x) {
    return each(x, [](Real y) { return std::exp2(y); });
  }
  static Reg exp2_below(Reg x) { return exp2(x); }
  static Reg log2(Reg x) {
    return each(x, [](Real y) { return std::log2(y); });
  }
  static Real sum(Reg x) { return (x[0] + x[1]) + (x[2] + x[3]); }
  static Real reduce_max(Reg x) {
    const Real a = x[0] > x[1] ? x[0] : x[1], b = x[2] > x[3] ? x[2] : x[3];
    return a > b ? a : b;
  }

  static Mask greater(Reg a, Reg b) { return a > b; }
  static Mask at_least(Reg a, Reg b) { return a >= b; }
  static Mask equal(Reg a, Reg b) { return a == b; }
  /// NaN or +inf.
  static Mask non_finite(Reg x) { return !(x <= std::numeric_limits<Real>::max()); }
  static Mask both(Mask a, Mask b) { return a & b; }
  static Reg select(Mask m, Reg yes, Reg no) { return m ? yes : no; }
  static uint32_t bits(Mask m) {
    uint32_t b = 0;
    for (int i = 0; i < kLanes; ++i) b |= static_cast<uint32_t>(m[i] != 0) << i;
    return b;
  }
  /// The lanes first <= i < last.
  static Mask lanes(int64_t first, int64_t last) {
    Mask m{};
    for (int i = 0; i < kLanes; ++i) m[i] = i >= first && i < last ? -1 : 0;
    return m;
  }
  /// The lanes whose byte is not 0.
  static Mask bytes(const uint8_t* p) {
    Mask m{};
    for (int i = 0; i < kLanes; ++i) m[i] = p[i] ? -1 : 0;
    return m;
  }
  /// Appends the selected lanes, and number + lane for each; may write a whole register past the end. Returns how many.
  static int compress(Mask m, Reg x, int32_t number, Real* to, int32_t* numbers) {
    int n = 0;
    for (int i = 0; i < kLanes; ++i)
      if (m[i]) {
        to[n] = x[i];
        numbers[n++] = number + i;
      }
    return n;
  }
  /// The same with from[i] as the number of lane i.
  static int compress(Mask m, Reg x, const int32_t* from, Real* to, int32_t* numbers) {
    int n = 0;
    for (int i = 0; i < kLanes; ++i)
      if (m[i]) {
        to[n] = x[i];
        numbers[n++] = from[i];
      }
    return n;
  }
  /// Applies f to each lane, for functions without a vector form.
  template <typename F>
  static Reg each(Reg x, F f) {
    Reg y{};
    for (int i = 0; i < kLanes; ++i) y[i] = f(x[i]);
    return y;
  }
};

}  // namespace heed::kernels::cpu
