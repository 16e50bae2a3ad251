#include "heed/torch_support/draws.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

// A block that begins at batch element 1, query 2 has the same numbers as the whole tensor.
TEST(Draws, DoNotDependOnTheTiling) {
  const Draws whole{5, 6, 0, 0};
  Draws block = whole;
  block.first_row = 1;
  block.first_query = 2;
  const auto all = whole.uniform(kAlignment, {3, 2, 4, 9}, at::kDouble);
  const auto some = block.uniform(kAlignment, {1, 2, 2, 9}, at::kDouble);
  EXPECT_TRUE(some.equal(all.narrow(0, 1, 1).narrow(2, 2, 2)));
}

TEST(Draws, DifferByPurposeSeedAndStream) {
  const auto draw = [](uint64_t seed, uint64_t stream, Purpose purpose) {
    return Draws{seed, stream, 0, 0}.uniform(purpose, {1, 1, 1, 64}, at::kFloat);
  };
  const auto first = draw(1, 1, kAlignment);
  EXPECT_FALSE(first.equal(draw(2, 1, kAlignment)));
  EXPECT_FALSE(first.equal(draw(1, 2, kAlignment)));
  EXPECT_FALSE(first.equal(draw(1, 1, kDropout)));
}

}  // namespace
}  // namespace heed
