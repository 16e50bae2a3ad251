// Philox4x32-10 (Salmon et al., 2011, "Parallel random numbers: as easy as 1, 2, 3"): a counter-based random number
// generator, without state.
//
// Ten rounds of multiply and mix turn a 128-bit counter, under a 64-bit key, into four random 32-bit words. A number
// depends only on the element it is used for, so it is the same under every tiling, thread count and device, and
// backward recomputes it instead of storing it:
//
//   key     = seed, low word first
//   counter = (element / 4, query, index in the global batch * H + head, stream * 4 + purpose),  word element % 4
//   element = key index * W + channel
//   u       = ((r >> 9) + 1/2) / 2^23     exact in float, never 0 and never 1

#pragma once

#include <cstdint>

namespace heed {

/// What a number is used for; different purposes never share a counter.
enum Purpose : uint32_t { kAlignment = 0, kDropout = 1, kPolicy = 2 };

struct Philox {
  uint32_t word[4];
};

/// Four random words from key `seed` and counter (c0, c1, c2, c3).
constexpr Philox philox(uint64_t seed, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * c0;
    const uint64_t product1 = uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ key0;
    c1 = static_cast<uint32_t>(product1);
    c2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ key1;
    c3 = static_cast<uint32_t>(product0);
    key0 += 0x9E3779B9;  // the golden ratio
    key1 += 0xBB67AE85;  // sqrt(3) - 1
  }
  return {{c0, c1, c2, c3}};
}

/// Maps a random word to (0, 1). Only 23 bits are used: with more, a float would round up to 1.
constexpr float unit(uint32_t word) {
  return (static_cast<float>(word >> 9) + 0.5F) * 0x1p-23F;
}

/// The last word of the counter; stream must be below 2^30.
constexpr uint32_t stream_word(uint64_t stream, uint32_t purpose) {
  return static_cast<uint32_t>(stream) * 4 + purpose;
}

/// Writes u of elements 0 ... count - 1 of one query to out. row_and_head: index in the global batch * H + head.
void uniforms(uint64_t seed, uint64_t stream, uint32_t purpose, uint32_t row_and_head, uint32_t query, int64_t count,
              float* out);

}  // namespace heed
