#include "heed/metrics/attention_distribution.h"

#include <cmath>

#include <gtest/gtest.h>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using Values = std::vector<double>;
constexpr double kClose = 1e-15;  // a few roundings of numbers up to 1

TEST(Distribution, DividesByTheSum) {
  EXPECT_EQ(distribution({1, 3}), (Values{0.25, 0.75}));
  EXPECT_EQ(distribution({0, 0.2, 0}), (Values{0, 1, 0}));
  EXPECT_EQ(distribution({1e308, 1e308}), (Values{0.5, 0.5}));
  EXPECT_EQ(distribution({5e-324, 5e-324}), (Values{0.5, 0.5}));
}

TEST(Distribution, NeedsWeightsThatAreNotNegativeAndNotAllZero) {
  EXPECT_EQ(distribution({}), std::nullopt);
  EXPECT_EQ(distribution({0, 0}), std::nullopt);
  EXPECT_EQ(distribution({1, -0.5}), std::nullopt);
  EXPECT_EQ(refusal([] {
              distribution({1, std::nan("")});
            }),
            "metrics/attention_distribution: got the weight nan for key 1, expected finite weights");
}

// Four equal weights: H = log 4, support 4. Weights 1/2 1/4 1/4 0: H = log 2 / 2 + log 4 / 2 = 1.5 log 2.
TEST(AttentionSpread, CountsTheKeysThatAreAttended) {
  const AttentionSpread equal = attention_spread({2, 2, 2, 2});
  EXPECT_NEAR(equal.entropy.value(), std::log(4), kClose);
  EXPECT_NEAR(equal.relative_entropy.value(), 1, kClose);
  EXPECT_NEAR(equal.support.value(), 4, 10 * kClose);
  EXPECT_NEAR(equal.relative_support.value(), 1, 10 * kClose);
  const AttentionSpread some = attention_spread({0.5, 0.25, 0.25, 0});
  EXPECT_NEAR(some.entropy.value(), 1.5 * std::log(2), kClose);
  EXPECT_NEAR(some.relative_entropy.value(), 0.75, kClose);
  EXPECT_NEAR(some.relative_support.value(), std::pow(2, 1.5) / 4, kClose);
}

TEST(AttentionSpread, OfOneKeyIsZeroAndHasNoRelativeEntropy) {
  const AttentionSpread one = attention_spread({0.3});
  EXPECT_EQ(one.entropy, 0);
  EXPECT_EQ(one.support, 1);
  EXPECT_EQ(one.relative_support, 1);
  EXPECT_EQ(one.relative_entropy, std::nullopt);
}

TEST(AttentionSpread, OfNoDistributionIsUndefined) {
  EXPECT_EQ(attention_spread({}).entropy, std::nullopt);
  EXPECT_EQ(attention_spread({0, 0}).support, std::nullopt);
  EXPECT_EQ(attention_spread({-1, 2}).entropy, std::nullopt);
}

}  // namespace
}  // namespace heed
