// The sparsemax alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// (1, 1/2): both are in the support, since 1 + 2 * 1/2 > 3/2; tau = (3/2 - 1) / 2 = 1/4: weights 3/4 and 1/4.
// (2, 1/2): 1 + 1 < 5/2, so the first is alone. (1, 1/2, 0): 1 + 3 * 0 < 3/2, the third is out.
TEST(SparsemaxAlignment, IsTheNearestPointOfTheSimplex) {
  expect_weights("sparsemax", {1, 0.5}, {0.75, 0.25});
  expect_weights("sparsemax", {2, 0.5}, {1, 0});
  expect_weights("sparsemax", {0, 0.5, 1}, {0, 0.25, 0.75});
}

// Scores that differ by exactly 1: the second is at the threshold and has weight 0. Equal scores share.
TEST(SparsemaxAlignment, GivesNothingAtTheThreshold) {
  expect_weights("sparsemax", {1, 0}, {1, 0});
  expect_weights("sparsemax", {3, 3, 0}, {0.5, 0.5, 0});
  expect_weights("sparsemax", {4, 4, 4, 4}, {0.25, 0.25, 0.25, 0.25});
  expect_weights("sparsemax", {1e6, 1e6 - 0.5}, {0.75, 0.25});
}

// On the support, values 0 and 4 minus their mean: -2 and 2; outside: 0. An only key has no gradient.
TEST(SparsemaxAlignment, HasTheGradientOfItsSupport) {
  expect_gradient("sparsemax", {1, 0.5, -3}, {0, 4, 100}, {-2, 2, 0});
  expect_gradient("sparsemax", {2, 0.5}, {3, 4}, {0, 0});
}

TEST(SparsemaxAlignment, IsOverTheKeptKeys) {
  expect_weights("sparsemax", {1, 9, 0.5}, {0.75, 0, 0.25}, keeping({1, 0, 1}));
  expect_weights("sparsemax", {1, 9, 0.5}, {0, 0, 0}, keeping({0, 0, 0}));
}

}  // namespace
}  // namespace heed::testing
