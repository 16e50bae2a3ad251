// Vectorized Philox: the numbers of base/philox.h for 64 keys of one (batch element, head, query) at a time.

#pragma once

#include <cstdint>

#include "heed/base/philox.h"
#include "heed/kernels/cpu/simd/numbers.h"
#include "heed/kernels/cpu/tiles/panels.h"

namespace heed::kernels::cpu {

template <class V>
struct Noise {
  using Real = typename V::Real;
  uint64_t seed = 0;
  uint32_t word = 0;  // stream and purpose

  /// Writes u of keys key ... key + 63; key is a multiple of 4.
  void uniforms(uint32_t row_and_head, uint32_t query, int64_t key, Real* u) const {
    const auto first = static_cast<uint32_t>(key / 4);
    if constexpr (requires { typename V::Int; }) {
      for (uint32_t i = 0; i < kPanel / 4; i += V::kLanes) registers(row_and_head, query, first + i, u + 4 * i);
    } else {
      for (uint32_t i = 0; i < kPanel / 4; ++i) {
        const Philox four = philox(seed, first + i, query, row_and_head, word);
        for (uint32_t lane = 0; lane < 4; ++lane) u[4 * i + lane] = unit(four.word[lane]);
      }
    }
  }

 private:
  void registers(uint32_t row_and_head, uint32_t query, uint32_t first, Real* u) const {
    using Int = typename V::Int;
    Int c0 = V::int_iota(first), c1 = V::int_set1(query), c2 = V::int_set1(row_and_head), c3 = V::int_set1(word);
    auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      Int high0, low0, high2, low2;
      V::wide_product(c0, V::int_set1(0xD2511F53), high0, low0);
      V::wide_product(c2, V::int_set1(0xCD9E8D57), high2, low2);
      c0 = V::exclusive(high2, c1, V::int_set1(key0));
      c1 = low2;
      c2 = V::exclusive(high0, c3, V::int_set1(key1));
      c3 = low0;
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
    V::interleave(u, V::unit(c0), V::unit(c1), V::unit(c2), V::unit(c3));
  }
};

}  // namespace heed::kernels::cpu
