// Known answers of Philox4x32-10 (the published ones: zeros, ones, digits of pi) and of the uniforms made from it.

#include "heed/base/philox.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace heed {
namespace {

using Words = std::array<uint32_t, 4>;

Words words_of(const Philox& four) {
  return {four.word[0], four.word[1], four.word[2], four.word[3]};
}

std::vector<float> drawn(uint64_t seed, uint64_t stream, uint32_t purpose, uint32_t row_and_head, uint32_t query,
                         int64_t count) {
  std::vector<float> out(static_cast<size_t>(count));
  uniforms(seed, stream, purpose, row_and_head, query, count, out.data());
  return out;
}

TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(words_of(philox(0, 0, 0, 0, 0)), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(words_of(philox(~uint64_t{0}, ~0U, ~0U, ~0U, ~0U)),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  const uint64_t key = uint64_t{0x299f31d0} << 32 | 0xa4093822;  // low word first
  EXPECT_EQ(words_of(philox(key, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344)),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Seed 1234567890123, stream 7, row_and_head 5, query 3. Element 4 is word 0 of the second counter.
TEST(Uniforms, GiveTheGoldenNumbersOfAnAlignment) {
  const double golden[] = {.64733189, .91724449, .97739345, .33980936, .52794558, .08003396};
  const auto u = drawn(1234567890123, 7, kAlignment, 5, 3, 6);
  for (size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(static_cast<double>(u[i]), golden[i], 1e-8) << "element " << i;
}

TEST(Uniforms, GiveOtherNumbersForDropout) {
  const auto u = drawn(1234567890123, 7, kDropout, 5, 3, 2);
  EXPECT_NEAR(static_cast<double>(u[0]), .51366693, 1e-8);
  EXPECT_NEAR(static_cast<double>(u[1]), .34119111, 1e-8);
}

TEST(Uniforms, DoNotDependOnTheCount) {
  const auto ten = drawn(42, 1, kPolicy, 2, 9, 10);
  for (int64_t count = 0; count < 10; ++count) {
    const auto some = drawn(42, 1, kPolicy, 2, 9, count);
    for (size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], ten[i]);
  }
}

TEST(Uniforms, ChangeWithEveryPartOfTheCounter) {
  const auto u = drawn(42, 1, kPolicy, 2, 9, 1)[0];
  EXPECT_NE(u, drawn(43, 1, kPolicy, 2, 9, 1)[0]);
  EXPECT_NE(u, drawn(42 | uint64_t{1} << 32, 1, kPolicy, 2, 9, 1)[0]);
  EXPECT_NE(u, drawn(42, 2, kPolicy, 2, 9, 1)[0]);
  EXPECT_NE(u, drawn(42, 1, kDropout, 2, 9, 1)[0]);
  EXPECT_NE(u, drawn(42, 1, kPolicy, 3, 9, 1)[0]);
  EXPECT_NE(u, drawn(42, 1, kPolicy, 2, 10, 1)[0]);
}

// The smallest is 2^-24 and the largest 1 - 2^-24, both exact in float; the nine low bits are ignored.
TEST(Unit, StaysInsideZeroAndOneAndIsExact) {
  EXPECT_EQ(unit(0), 0x1p-24F);
  EXPECT_EQ(unit(0x1FF), 0x1p-24F);
  EXPECT_EQ(unit(0xFFFFFFFF), 1 - 0x1p-24F);
  for (const uint32_t word : {0x12345678U, 0x9ABCDEF0U, 0xFFFFFC00U}) {
    EXPECT_EQ(static_cast<double>(unit(word)), (static_cast<double>(word >> 9) + 0.5) / 8388608.0);
  }
}

}  // namespace
}  // namespace heed
