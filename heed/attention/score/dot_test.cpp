// The dot score, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// q = (1, 2): with (3, 4) 3 + 8 = 11, with (-2, 1) -2 + 2 = 0, with (0, -5) -10. The second query is twice the first.
TEST(DotScore, IsTheSumOfProducts) {
  expect_scores("dot", {{1, 2}, {2, 4}}, {{3, 4}, {-2, 1}, {0, -5}}, {11, 0, -10, 22, 0, -20});
}

// Two channels, so two groups of two features: 1 * 1 + 2 * 0 = 1 and 3 * 2 + 4 * -1 = 2.
TEST(DotScore, IsSplitIntoGroupsOfFeatures) {
  expect_scores("dot", {{1, 2, 3, 4}}, {{1, 0, 2, -1}}, {1, 2}, {}, "multi(lift)");
}

TEST(DotScore, RefusesDifferentWidthsAndAHiddenLayer) {
  EXPECT_THROW(attend(sequence({{1, 2}}), sequence({{1}}), sequence({{1}}), Mechanism::parse("dot + softmax")), Error);
  EXPECT_THROW(Mechanism::parse("dot + softmax, multi"), Error);
}

}  // namespace
}  // namespace heed::testing
