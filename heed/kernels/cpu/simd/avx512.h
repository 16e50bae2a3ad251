// AVX-512 (F, BW, DQ, VL): sixteen floats, thirty-two registers. Names and meanings as in portable.h.

#pragma once

// g++ 12 warns about the undefined operands of its own intrinsics as if they were uninitialized variables. Clang does
// not know the second warning.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <cstdint>
#include <immintrin.h>
#include <limits>

#include "heed/kernels/cpu/simd/numbers.h"

namespace heed::kernels::cpu {

struct Avx512 {
  using Real = float;
  using Reg = __m512;
  using Mask = __mmask16;
  static constexpr int kLanes = 16, kAcross = 4;
  static constexpr bool kFusesExp2 = true;
  static constexpr auto kName = "avx512";

  static Reg load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Reg x) { _mm512_storeu_ps(p, x); }
  static Reg load_some(const float* p, int64_t n) { return _mm512_maskz_loadu_ps(lanes(0, n), p); }
  static void store_some(float* p, Reg x, int64_t n) { _mm512_mask_storeu_ps(p, lanes(0, n), x); }
  static Reg set1(float x) { return _mm512_set1_ps(x); }
  static Reg zero() { return _mm512_setzero_ps(); }
  static Reg iota(float first) {
    return add(set1(first), _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  }
  static Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
  static Reg sub(Reg a, Reg b) { return _mm512_sub_ps(a, b); }
  static Reg mul(Reg a, Reg b) { return _mm512_mul_ps(a, b); }
  static Reg div(Reg a, Reg b) { return _mm512_div_ps(a, b); }
  static Reg max(Reg a, Reg b) { return _mm512_max_ps(a, b); }
  static Reg min(Reg a, Reg b) { return _mm512_min_ps(a, b); }
  static Reg abs(Reg x) { return _mm512_abs_ps(x); }
  static Reg sqrt(Reg x) { return _mm512_sqrt_ps(x); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
  static Reg fnma(Reg a, Reg b, Reg c) { return _mm512_fnmadd_ps(a, b, c); }
  /// A 14-bit approximation and one Newton step; x is finite and not 0.
  static Reg reciprocal(Reg x) {
    const Reg r = _mm512_rcp14_ps(x);
    return mul(r, fnma(x, r, set1(2)));
  }
  /// 2^(x - floor x) by a polynomial; scalef, which floors x itself, multiplies it by 2^floor x. 0 at -inf.
  static Reg exp2(Reg x) {
    const Reg f = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    Reg p = fma(set1(kExp2Above[5]), f, set1(kExp2Above[4]));
    p = fma(p, f, set1(kExp2Above[3]));
    p = fma(p, f, set1(kExp2Above[2]));
    p = fma(p, f, set1(kExp2Above[1]));
    p = fma(p, f, set1(kExp2Above[0]));
    return _mm512_scalef_ps(p, x);
  }
  static Reg exp2_below(Reg x) { return exp2(x); }
  static Reg log2(Reg x) {
    const Reg over = mul(x, set1(1.41421356F));  // its exponent e makes x / 2^e fall in [sqrt(1/2), sqrt 2)
    const Reg e = _mm512_getexp_ps(over), m = _mm512_scalef_ps(x, sub(zero(), e));
    const Reg t = div(sub(m, set1(1)), add(m, set1(1))), tt = mul(t, t);
    Reg p = fma(set1(kLog2[4]), tt, set1(kLog2[3]));
    p = fma(p, tt, set1(kLog2[2]));
    p = fma(p, tt, set1(kLog2[1]));
    p = fma(p, tt, set1(kLog2[0]));
    return fma(p, t, e);
  }
  static float sum(Reg x) { return _mm512_reduce_add_ps(x); }
  static float reduce_max(Reg x) { return _mm512_reduce_max_ps(x); }

  static Mask greater(Reg a, Reg b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
  static Mask at_least(Reg a, Reg b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }
  static Mask equal(Reg a, Reg b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
  static Mask non_finite(Reg x) { return _mm512_cmp_ps_mask(x, set1(std::numeric_limits<float>::max()), _CMP_NLE_UQ); }
  static Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
  static Reg select(Mask m, Reg yes, Reg no) { return _mm512_mask_blend_ps(m, no, yes); }
  static uint32_t bits(Mask m) { return m; }
  static Mask lanes(int64_t first, int64_t last) {
    const auto below = [](int64_t n) { return n <= 0 ? 0U : n >= kLanes ? 0xffffU : (1U << n) - 1; };
    return static_cast<Mask>(below(last) & ~below(first));
  }
  static Mask bytes(const uint8_t* p) {
    return _mm_test_epi8_mask(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)), _mm_set1_epi8(-1));
  }
  static int compress(Mask m, Reg x, int32_t number, float* to, int32_t* numbers) {
    store(to, _mm512_maskz_compress_ps(m, x));
    _mm512_storeu_si512(numbers, _mm512_maskz_compress_epi32(m, int_iota(static_cast<uint32_t>(number))));
    return __builtin_popcount(m);
  }
  static int compress(Mask m, Reg x, const int32_t* from, float* to, int32_t* numbers) {
    store(to, _mm512_maskz_compress_ps(m, x));
    _mm512_storeu_si512(numbers, _mm512_maskz_compress_epi32(m, _mm512_loadu_si512(from)));
    return __builtin_popcount(m);
  }
  template <typename F>
  static Reg each(Reg x, F f) {
    alignas(64) float t[kLanes];
    store(t, x);
    for (float& y : t) y = f(y);
    return load(t);
  }

  using Int = __m512i;
  static Int int_set1(uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
  static Int int_iota(uint32_t first) {
    return _mm512_add_epi32(int_set1(first), _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  }
  static Int exclusive(Int a, Int b, Int c) { return _mm512_ternarylogic_epi32(a, b, c, 0x96); }
  static void wide_product(Int a, Int m, Int& high, Int& low) {
    const Int even = _mm512_mul_epu32(a, m), odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), m);
    high = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
    low = _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
  }
  static Reg unit(Int r) { return mul(add(_mm512_cvtepi32_ps(_mm512_srli_epi32(r, 9)), set1(0.5F)), set1(0x1p-23F)); }
  static void interleave(float* to, Reg x0, Reg x1, Reg x2, Reg x3) {
    const Reg a = _mm512_unpacklo_ps(x0, x1), b = _mm512_unpackhi_ps(x0, x1);
    const Reg c = _mm512_unpacklo_ps(x2, x3), d = _mm512_unpackhi_ps(x2, x3);
    const Reg w0 = _mm512_shuffle_ps(a, c, 0x44), w1 = _mm512_shuffle_ps(a, c, 0xee);  // quarter q of w_i: 4 q + i
    const Reg w2 = _mm512_shuffle_ps(b, d, 0x44), w3 = _mm512_shuffle_ps(b, d, 0xee);
    const Reg e = _mm512_shuffle_f32x4(w0, w1, 0x44), f = _mm512_shuffle_f32x4(w0, w1, 0xee);
    const Reg g = _mm512_shuffle_f32x4(w2, w3, 0x44), h = _mm512_shuffle_f32x4(w2, w3, 0xee);
    store(to, _mm512_shuffle_f32x4(e, g, 0x88));
    store(to + 16, _mm512_shuffle_f32x4(e, g, 0xdd));
    store(to + 32, _mm512_shuffle_f32x4(f, h, 0x88));
    store(to + 48, _mm512_shuffle_f32x4(f, h, 0xdd));
  }
};

}  // namespace heed::kernels::cpu
#pragma GCC diagnostic pop
