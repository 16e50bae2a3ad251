// The softmax alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// exp: 1, 3, 4; sum 8. A constant in all scores changes nothing, however large.
TEST(SoftmaxAlignment, IsTheShareOfTheExponential) {
  expect_weights("softmax", {0, std::log(3), std::log(4)}, {0.125, 0.375, 0.5});
  expect_weights("softmax", {1024, 1024}, {0.5, 0.5});
  expect_weights("softmax", {-1e4, 0}, {0, 1});
}

// Weights 1/4 and 3/4, context 3 of the values 0 and 4: a (v - c) = -3/4 and 3/4.
TEST(SoftmaxAlignment, HasTheGradientOfTheDifferenceToTheContext) {
  expect_gradient("softmax", {0, std::log(3)}, {0, 4}, {-0.75, 0.75});
}

// lse = ln(1 + 3) = 2 ln 2; entropy = -1/4 ln 1/4 - 3/4 ln 3/4 = 2 ln 2 - 3/4 ln 3.
TEST(SoftmaxAlignment, HasAnLseAndAnEntropy) {
  Call call;
  call.outputs.lse = call.outputs.entropy = true;
  for (const auto& [path, attended] : on_every_path(sequence({{1}}), sequence({{0}, {std::log(3)}}),
                                                    sequence({{0}, {4}}), "dot + softmax", {}, call)) {
    EXPECT_NEAR(attended.lse.item<double>(), 2 * std::log(2), 1e-12) << path;
    EXPECT_NEAR(attended.entropy.item<double>(), 2 * std::log(2) - 0.75 * std::log(3), 1e-12) << path;
  }
}

// A masked key takes no weight, an only key all of it; without keys the weights are 0 and the lse is -inf.
TEST(SoftmaxAlignment, IsOverTheKeptKeys) {
  expect_weights("softmax", {0, 50, std::log(3)}, {0.25, 0, 0.75}, keeping({1, 0, 1}));
  expect_weights("softmax", {0, 50, 1}, {0, 0, 1}, keeping({0, 0, 1}));
  auto nothing = keeping({0, 0, 0});
  expect_weights("softmax", {0, 50, 1}, {0, 0, 0}, nothing);
  nothing.outputs.lse = true;
  for (const auto& [path, attended] : on_every_path(sequence({{1}}), sequence({{0}, {50}, {1}}),
                                                    sequence({{1}, {1}, {1}}), "dot + softmax", {}, nothing))
    EXPECT_EQ(attended.lse.item<double>(), -INFINITY) << path;
}

}  // namespace
}  // namespace heed::testing
