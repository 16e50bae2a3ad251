#include "heed/metrics/attention_correctness.h"

#include <cmath>

#include <gtest/gtest.h>

namespace heed {
namespace {

// Softmax of the scores 1, .5, 1.5; the region is the first and the last key.
TEST(AttentionCorrectness, IsThatOfTheGoldenNumbers) {
  const std::vector<double> weights{std::exp(1.0), std::exp(0.5), std::exp(1.5)};
  EXPECT_NEAR(attention_correctness(weights, {true, false, true}).value(), 0.81367628, 5e-9);
}

TEST(AttentionCorrectness, IsTheShareOfTheRegionForEqualWeights) {
  EXPECT_EQ(attention_correctness({3, 3, 3, 3}, {false, true, false, false}), 0.25);
  EXPECT_EQ(attention_correctness({0.1, 0.9}, {true, true}), 1);
}

TEST(AttentionCorrectness, DividesByTheSumOfWeightsThatDoNotAddUpToOne) {
  EXPECT_NEAR(attention_correctness({0.1, 0.3}, {true, false}).value(), 0.25, 1e-15);
}

TEST(AttentionCorrectness, IsUndefinedWithoutARegionOrWeights) {
  EXPECT_EQ(attention_correctness({1, 2}, {false, false}), std::nullopt);
  EXPECT_EQ(attention_correctness({0, 0}, {true, false}), std::nullopt);
  EXPECT_EQ(attention_correctness({-1, 2}, {true, false}), std::nullopt);
  EXPECT_EQ(attention_correctness({}, {}), std::nullopt);
  EXPECT_EQ(attention_correctness({1}, {true}), 1);
}

}  // namespace
}  // namespace heed
