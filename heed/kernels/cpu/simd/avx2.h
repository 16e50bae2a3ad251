// AVX2 with FMA: eight floats, sixteen registers. Names and meanings as in portable.h.

#pragma once

#include <cstdint>
#include <immintrin.h>
#include <limits>

#include "heed/kernels/cpu/simd/numbers.h"

namespace heed::kernels::cpu {

struct Avx2 {
  using Real = float;
  using Reg = __m256;
  using Mask = __m256;
  static constexpr int kLanes = 8, kAcross = 2;
  static constexpr bool kFusesExp2 = false;
  static constexpr auto kName = "avx2";

  static Reg load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Reg x) { _mm256_storeu_ps(p, x); }
  static Reg load_some(const float* p, int64_t n) { return _mm256_maskload_ps(p, whole(lanes(0, n))); }
  static void store_some(float* p, Reg x, int64_t n) { _mm256_maskstore_ps(p, whole(lanes(0, n)), x); }
  static Reg set1(float x) { return _mm256_set1_ps(x); }
  static Reg zero() { return _mm256_setzero_ps(); }
  static Reg iota(float first) { return add(set1(first), _mm256_set_ps(7, 6, 5, 4, 3, 2, 1, 0)); }
  static Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
  static Reg sub(Reg a, Reg b) { return _mm256_sub_ps(a, b); }
  static Reg mul(Reg a, Reg b) { return _mm256_mul_ps(a, b); }
  static Reg div(Reg a, Reg b) { return _mm256_div_ps(a, b); }
  static Reg max(Reg a, Reg b) { return _mm256_max_ps(a, b); }
  static Reg min(Reg a, Reg b) { return _mm256_min_ps(a, b); }
  static Reg abs(Reg x) { return _mm256_andnot_ps(set1(-0.0F), x); }
  static Reg sqrt(Reg x) { return _mm256_sqrt_ps(x); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
  static Reg fnma(Reg a, Reg b, Reg c) { return _mm256_fnmadd_ps(a, b, c); }
  /// A 12-bit approximation and one Newton step; x is finite and not 0.
  static Reg reciprocal(Reg x) {
    const Reg r = _mm256_rcp_ps(x);
    return mul(r, fnma(x, r, set1(2)));
  }
  /// 0 below the normal numbers; NaN stays NaN. Adding a large number (kRound) to x leaves the nearest integer in the
  /// low bits; shifted into the exponent, it is a power of 2.
  static Reg exp2(Reg x) { return exp2_below(min(set1(128), x)); }
  /// The same for x <= 128.
  static Reg exp2_below(Reg x) {
    x = max(set1(-127), x);
    const Reg t = add(x, set1(kRound)), f = sub(x, sub(t, set1(kRound)));
    Reg p = fma(set1(kExp2[5]), f, set1(kExp2[4]));
    p = fma(p, f, set1(kExp2[3]));
    p = fma(p, f, set1(kExp2[2]));
    p = fma(p, f, set1(kExp2[1]));
    p = fma(p, f, set1(kExp2[0]));
    return mul(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(t), 23)));
  }
  /// x is normal and positive.
  static Reg log2(Reg x) {
    const __m256i raw = _mm256_castps_si256(x);
    const __m256i shifted = _mm256_sub_epi32(raw, _mm256_set1_epi32(0x3f3504f3));  // sqrt(1/2)
    const __m256i e = _mm256_srai_epi32(shifted, 23);
    const Reg m = _mm256_castsi256_ps(_mm256_sub_epi32(raw, _mm256_slli_epi32(e, 23)));
    const Reg t = div(sub(m, set1(1)), add(m, set1(1))), tt = mul(t, t);
    Reg p = fma(set1(kLog2[4]), tt, set1(kLog2[3]));
    p = fma(p, tt, set1(kLog2[2]));
    p = fma(p, tt, set1(kLog2[1]));
    p = fma(p, tt, set1(kLog2[0]));
    return fma(p, t, _mm256_cvtepi32_ps(e));
  }
  static float sum(Reg x) {
    __m128 y = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
  }
  static float reduce_max(Reg x) {
    __m128 y = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_max_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_max_ss(y, _mm_movehdup_ps(y)));
  }

  static Mask greater(Reg a, Reg b) { return _mm256_cmp_ps(a, b, _CMP_GT_OQ); }
  static Mask at_least(Reg a, Reg b) { return _mm256_cmp_ps(a, b, _CMP_GE_OQ); }
  static Mask equal(Reg a, Reg b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
  static Mask non_finite(Reg x) { return _mm256_cmp_ps(x, set1(std::numeric_limits<float>::max()), _CMP_NLE_UQ); }
  static Mask both(Mask a, Mask b) { return _mm256_and_ps(a, b); }
  static Reg select(Mask m, Reg yes, Reg no) { return _mm256_blendv_ps(no, yes, m); }
  static uint32_t bits(Mask m) { return static_cast<uint32_t>(_mm256_movemask_ps(m)); }
  static Mask lanes(int64_t first, int64_t last) {
    const auto near = [](int64_t n) { return static_cast<int>(n < 0 ? 0 : n > kLanes ? kLanes : n); };
    const __m256i at = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    const __m256i from = _mm256_cmpgt_epi32(_mm256_set1_epi32(near(first)), at);  // below the first
    const __m256i to = _mm256_cmpgt_epi32(_mm256_set1_epi32(near(last)), at);
    return _mm256_castsi256_ps(_mm256_andnot_si256(from, to));
  }
  static Mask bytes(const uint8_t* p) {
    const __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(wide, _mm256_setzero_si256()));
  }
  static int compress(Mask m, Reg x, int32_t number, float* to, int32_t* numbers) {
    const uint32_t some = bits(m);
    store(to, _mm256_permutevar8x32_ps(x, order(some)));
    const __m256i at = _mm256_add_epi32(_mm256_set1_epi32(number), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(numbers), _mm256_permutevar8x32_epi32(at, order(some)));
    return __builtin_popcount(some);
  }
  static int compress(Mask m, Reg x, const int32_t* from, float* to, int32_t* numbers) {
    const uint32_t some = bits(m);
    const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    store(to, _mm256_permutevar8x32_ps(x, order(some)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(numbers), _mm256_permutevar8x32_epi32(at, order(some)));
    return __builtin_popcount(some);
  }
  template <typename F>
  static Reg each(Reg x, F f) {
    alignas(32) float t[kLanes];
    store(t, x);
    for (float& y : t) y = f(y);
    return load(t);
  }

  // Integers, for the random number generator.
  using Int = __m256i;
  static Int int_set1(uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
  static Int int_iota(uint32_t first) {
    return _mm256_add_epi32(int_set1(first), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
  }
  static Int exclusive(Int a, Int b, Int c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }
  static void wide_product(Int a, Int m, Int& high, Int& low) {
    const Int even = _mm256_mul_epu32(a, m), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), m);
    high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
    low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
  }
  static Reg unit(Int r) { return mul(add(_mm256_cvtepi32_ps(_mm256_srli_epi32(r, 9)), set1(0.5F)), set1(0x1p-23F)); }
  /// to[4 i + l] = x_l[i]
  static void interleave(float* to, Reg x0, Reg x1, Reg x2, Reg x3) {
    const Reg a = _mm256_unpacklo_ps(x0, x1), b = _mm256_unpackhi_ps(x0, x1);
    const Reg c = _mm256_unpacklo_ps(x2, x3), d = _mm256_unpackhi_ps(x2, x3);
    const Reg w0 = _mm256_shuffle_ps(a, c, 0x44), w1 = _mm256_shuffle_ps(a, c, 0xee);  // half h of w_i: entry 4 h + i
    const Reg w2 = _mm256_shuffle_ps(b, d, 0x44), w3 = _mm256_shuffle_ps(b, d, 0xee);
    store(to, _mm256_permute2f128_ps(w0, w1, 0x20));
    store(to + 8, _mm256_permute2f128_ps(w2, w3, 0x20));
    store(to + 16, _mm256_permute2f128_ps(w0, w1, 0x31));
    store(to + 24, _mm256_permute2f128_ps(w2, w3, 0x31));
  }

 private:
  static __m256i whole(Mask m) { return _mm256_castps_si256(m); }

  /// For each mask of lanes, the permutation that moves the selected lanes to the front: one byte per lane.
  struct Orders {
    uint64_t of[256];
  };
  static constexpr Orders make_orders() {
    Orders all{};
    for (uint32_t some = 0; some < 256; ++some)
      for (uint32_t lane = 0, next = 0; lane < 8; ++lane)
        if ((some >> lane & 1) != 0) all.of[some] |= static_cast<uint64_t>(lane) << (8 * next++);
    return all;
  }
  static __m256i order(uint32_t some) {
    static constexpr Orders kOrders = make_orders();
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(kOrders.of[some])));
  }
};

}  // namespace heed::kernels::cpu
