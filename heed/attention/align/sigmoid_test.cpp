// The sigmoid alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// 1 / (1 + exp(-e)): 1 / 2, 1 / (1 + 1/3) = 3/4, 1/4. Keys do not compete: the sum is not 1.
TEST(SigmoidAlignment, IsAGateForEachKey) {
  expect_weights("sigmoid", {0, std::log(3), -std::log(3)}, {0.5, 0.75, 0.25});
  expect_weights("sigmoid", {0}, {0.5});
}

// Far from 0 a gate is shut or open, not NaN.
TEST(SigmoidAlignment, Saturates) {
  expect_weights("sigmoid", {-1000, 1000}, {0, 1});
  expect_gradient("sigmoid", {-1000, 1000}, {3, 4}, {0, 0});
}

// a (1 - a) v = 1/4 * 8 = 2 and 3/16 * 16 = 3.
TEST(SigmoidAlignment, HasTheGradientOfEachKeyAlone) {
  expect_gradient("sigmoid", {0, std::log(3)}, {8, 16}, {2, 3});
}

// A masked key does not change the others. There is no entropy.
TEST(SigmoidAlignment, DoesNotNormalizeOverTheKeptKeys) {
  expect_weights("sigmoid", {0, 9, std::log(3)}, {0.5, 0, 0.75}, keeping({1, 0, 1}));
  expect_weights("sigmoid", {0, 9}, {0, 0}, keeping({0, 0}));
  Call call;
  call.outputs.entropy = true;
  EXPECT_THROW(attend(sequence({{1}}), sequence({{1}}), sequence({{1}}), Mechanism::parse("dot + sigmoid"), {}, call),
               Error);
}

}  // namespace
}  // namespace heed::testing
