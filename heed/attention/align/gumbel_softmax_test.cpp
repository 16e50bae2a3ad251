// The Gumbel-softmax alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// Scores 0 and ln 3 with the noise ln 4 and 0: softmax(ln 4, ln 3) = 4/7, 3/7.
// Temperature 1/2 squares: 16/25, 9/25. Temperature 2 takes roots: 2 / (2 + sqrt 3).
TEST(GumbelSoftmaxAlignment, IsTheSoftmaxOfNoisyScores) {
  const auto call = drawn_by({std::exp(-0.25), std::exp(-1)});
  expect_weights("gumbel_softmax", {0, std::log(3)}, {4.0 / 7, 3.0 / 7}, call);
  expect_weights("gumbel_softmax(0.5)", {0, std::log(3)}, {16.0 / 25, 9.0 / 25}, call);
  const double root = std::sqrt(3);
  expect_weights("gumbel_softmax(2)", {0, std::log(3)}, {2 / (2 + root), root / (2 + root)}, call);
}

// a1 a2 (v2 - v1) / t = 144/625 * 625 / (1/2) = 288.
TEST(GumbelSoftmaxAlignment, DividesTheGradientByTheTemperature) {
  expect_gradient("gumbel_softmax(0.5)", {0, std::log(3)}, {0, 625}, {-288, 288},
                  drawn_by({std::exp(-0.25), std::exp(-1)}));
}

// Not sampling: all weight on the best key, of equal ones the first, without a gradient.
TEST(GumbelSoftmaxAlignment, TakesTheBestKeyWithoutSampling) {
  expect_weights("gumbel_softmax", {0, 2, 2}, {0, 1, 0});
  expect_gradient("gumbel_softmax", {0, 2}, {3, 4}, {0, 0});
  expect_weights("gumbel_softmax", {0, 2, 1}, {0, 0, 1}, keeping({1, 0, 1}));
  expect_weights("gumbel_softmax", {0, 2}, {0, 0}, keeping({0, 0}));
}

TEST(GumbelSoftmaxAlignment, RefusesATemperatureOfZero) {
  EXPECT_THROW(Mechanism::parse("dot + gumbel_softmax(0)"), Error);
}

}  // namespace
}  // namespace heed::testing
