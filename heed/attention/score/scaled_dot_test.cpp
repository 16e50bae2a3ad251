// The scaled dot score, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// Four features, sqrt(4) = 2: (1 + 2 + 3 + 4) / 2 = 5, (2 - 4) / 2 = -1.
TEST(ScaledDotScore, IsDividedByTheRootOfTheWidth) {
  expect_scores("scaled_dot", {{1, 2, 3, 4}}, {{1, 1, 1, 1}, {2, 0, 0, -1}}, {5, -1});
}

// Two groups of four features: each is divided by the root of the width of its group, 2, not by that of all eight.
// 8 / 2 = 4 and -4 / 2 = -2.
TEST(ScaledDotScore, IsDividedByTheRootOfTheWidthOfAGroup) {
  expect_scores("scaled_dot", {{1, 1, 1, 1, 1, 1, 1, 1}}, {{2, 2, 2, 2, -1, -1, -1, -1}}, {4, -2}, {}, "multi(lift)");
}

// A width of 1: the dot score.
TEST(ScaledDotScore, IsDotForOneFeature) {
  expect_scores("scaled_dot", {{3}}, {{5}, {-2}}, {15, -6});
}

}  // namespace
}  // namespace heed::testing
