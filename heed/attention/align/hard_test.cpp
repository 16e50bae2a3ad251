// The hard alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// Not sampling: the best key; of equal ones the first.
TEST(HardAlignment, TakesTheBestKey) {
  expect_weights("hard", {0, std::log(3), -1}, {0, 1, 0});
  expect_weights("hard", {2, 5, 5}, {0, 1, 0});
}

// Scores 0 and ln 3 with the noise ln 4 and 0: ln 4 > ln 3, the first key. The other way round: the second.
TEST(HardAlignment, TakesTheBestOfNoisyScores) {
  expect_weights("hard", {0, std::log(3)}, {1, 0}, drawn_by({std::exp(-0.25), std::exp(-1)}));
  expect_weights("hard", {0, std::log(3)}, {0, 1}, drawn_by({std::exp(-1), std::exp(-0.25)}));
}

// log p = ln of the softmax, 3/4 for the best key and 1/4 for the sampled first; the entropy is that of softmax.
TEST(HardAlignment, HasTheLogProbabilityOfItsSample) {
  for (const bool sample : {false, true}) {
    auto call = sample ? drawn_by({std::exp(-0.25), std::exp(-1)}) : Call{};
    call.outputs.entropy = true;
    for (const auto& [path, attended] :
         on_every_path(sequence({{1}}), sequence({{0}, {std::log(3)}}), sequence({{5}, {7}}), "dot + hard", {}, call)) {
      EXPECT_EQ(attended.context.item<double>(), sample ? 5 : 7) << path;
      EXPECT_NEAR(attended.log_probability.item<double>(), std::log(sample ? 0.25 : 0.75), 1e-12) << path;
      EXPECT_NEAR(attended.entropy.item<double>(), 2 * std::log(2) - 0.75 * std::log(3), 1e-12) << path;
    }
  }
}

// The choice has no gradient: scores are trained through log p.
TEST(HardAlignment, HasNoGradient) {
  expect_gradient("hard", {0, std::log(3)}, {5, 7}, {0, 0});
}

TEST(HardAlignment, ChoosesAmongTheKeptKeys) {
  expect_weights("hard", {0, 9, 1}, {0, 0, 1}, keeping({1, 0, 1}));
  expect_weights("hard", {0, 9}, {0, 0}, keeping({0, 0}));
}

}  // namespace
}  // namespace heed::testing
