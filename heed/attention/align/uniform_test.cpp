// The uniform alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// 1 / n, whatever the scores; over the kept keys.
TEST(UniformAlignment, IsTheMeanOfTheKeptKeys) {
  expect_weights("uniform", {0, 1000, -1000, 3}, {0.25, 0.25, 0.25, 0.25});
  expect_weights("uniform", {0, 1000, 3}, {0.5, 0, 0.5}, keeping({1, 0, 1}));
  expect_weights("uniform", {0, 1000, 3}, {0, 1, 0}, keeping({0, 1, 0}));
  expect_weights("uniform", {0, 1000}, {0, 0}, keeping({0, 0}));
}

TEST(UniformAlignment, GivesTheScoresNoGradient) {
  expect_gradient("uniform", {1, 2}, {5, 7}, {0, 0});
}

// Of two kept keys, ln 2.
TEST(UniformAlignment, HasTheLargestEntropy) {
  auto call = keeping({1, 0, 1});
  call.outputs.entropy = true;
  const auto attended = attend(sequence({{1}}), sequence({{1}, {2}, {3}}), sequence({{1}, {2}, {3}}),
                               Mechanism::parse("dot + uniform"), {}, call);
  EXPECT_NEAR(attended.entropy.item<double>(), std::log(2), 1e-12);
}

}  // namespace
}  // namespace heed::testing
