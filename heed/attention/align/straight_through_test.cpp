// The straight-through alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// Scores 0 and ln 3 with the noise ln 4 and 0: the first key. Without sampling: the best; of equal ones the first.
TEST(StraightThroughAlignment, TakesOneKey) {
  expect_weights("straight_through", {0, std::log(3)}, {1, 0}, drawn_by({std::exp(-0.25), std::exp(-1)}));
  expect_weights("straight_through", {0, std::log(3)}, {0, 1});
  expect_weights("straight_through(0.5)", {2, 5, 5}, {0, 1, 0});
}

// The gradient is that of softmax((e + g) / t): weights 1/4 and 3/4 not sampling, a (v - c) = -3/4 and 3/4;
// sampling with t = 1/2, weights 16/25 and 9/25, a1 a2 (v2 - v1) / t = 144/625 * 625 * 2 = 288.
TEST(StraightThroughAlignment, HasTheGradientOfSoftmax) {
  expect_gradient("straight_through", {0, std::log(3)}, {0, 4}, {-0.75, 0.75});
  expect_gradient("straight_through(0.5)", {0, std::log(3)}, {0, 625}, {-288, 288},
                  drawn_by({std::exp(-0.25), std::exp(-1)}));
}

TEST(StraightThroughAlignment, ChoosesAmongTheKeptKeys) {
  expect_weights("straight_through", {0, 9, 1}, {0, 0, 1}, keeping({1, 0, 1}));
  expect_weights("straight_through", {0, 9}, {0, 0}, keeping({0, 0}));
  EXPECT_THROW(Mechanism::parse("dot + straight_through(-1)"), Error);
}

}  // namespace
}  // namespace heed::testing
