#include "heed/metrics/regression.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using Values = std::vector<double>;

constexpr double kClose = 1e-15;  // numbers up to 3, with a few rounding errors each
constexpr double kInfinite = std::numeric_limits<double>::infinity();

const Values kPredicted{2, 2, 3, 7}, kGold{1, 2, 3, 4};

// errors 1 0 0 3; sum (y - 2.5)^2 = 2.25 + .25 + .25 + 2.25 = 5
TEST(Regression, HasTheErrorsOfTheFormulas) {
  const auto found = regression_scores(kPredicted, kGold);
  EXPECT_NEAR(found.mse, 10.0 / 4, kClose);
  EXPECT_NEAR(found.rmse, std::sqrt(2.5), kClose);
  EXPECT_NEAR(found.mae, 4.0 / 4, kClose);
  EXPECT_NEAR(found.r2, 1 - 10.0 / 5, kClose);
}

// x - 3.5 = -1.5 -1.5 -.5 3.5: 8 / sqrt(17 5); ranks 1.5 1.5 3 4, less 2.5: -1 -1 .5 1.5: 4.5 / sqrt(4.5 5)
TEST(Regression, HasTheCorrelationsOfTheFormulas) {
  const auto found = regression_scores(kPredicted, kGold);
  EXPECT_NEAR(found.pearson, 8 / std::sqrt(85), kClose);
  EXPECT_NEAR(found.spearman, 4.5 / std::sqrt(22.5), kClose);
  EXPECT_EQ(pearson(kPredicted, kGold), found.pearson);
  EXPECT_EQ(spearman(kPredicted, kGold), found.spearman);
}

// ranks of 5 3 5 9: 2.5 1 2.5 4; of 5 5 5 9: 2 2 2 4
TEST(Spearman, GivesTiesTheMeanOfTheirRanks) {
  EXPECT_EQ(spearman({5, 3, 5, 9}, {7, 1, 1, 8}), pearson({2.5, 1, 2.5, 4}, {3, 1.5, 1.5, 4}));
  EXPECT_EQ(spearman({5, 5, 5, 9}, {1, 2, 3, 4}), pearson({2, 2, 2, 4}, {1, 2, 3, 4}));
}

TEST(Spearman, IsOneForWhateverIncreases) {
  EXPECT_NEAR(spearman({0, 1, 10, 1e9}, {-3, -2, -1, 0}), 1, kClose);
  EXPECT_NEAR(spearman({1e9, 10, 1, 0}, {-3, -2, -1, 0}), -1, kClose);
}

TEST(Pearson, IsAtMostOneHoweverItIsRounded) {
  EXPECT_EQ(pearson({0, 0, 3}, {0, 0, .3 * 3}), 1);  // the quotient is rounded to 1 + 2^-52
  EXPECT_EQ(pearson({0, 0, 3}, {0, 0, -.3 * 3}), -1);
}

TEST(Regression, IsUndefinedForASingleExampleExceptForErrors) {
  const auto found = regression_scores({3}, {1});
  EXPECT_EQ(found.mse, 4);
  EXPECT_EQ(found.mae, 2);
  EXPECT_TRUE(std::isnan(found.r2) && std::isnan(found.pearson) && std::isnan(found.spearman));
}

// the sum of three .1 divided by 3 is not .1
TEST(Regression, TakesEqualValuesForConstantHoweverTheirMeanIsRounded) {
  const auto gold = regression_scores({.1, .1, .2}, {.1, .1, .1});
  EXPECT_EQ(gold.r2, 0);
  EXPECT_TRUE(std::isnan(gold.pearson) && std::isnan(gold.spearman));
  const auto predicted = regression_scores({.1, .1, .1}, {.1, .1, .2});
  EXPECT_TRUE(std::isnan(predicted.pearson) && std::isnan(predicted.spearman));
  EXPECT_EQ(regression_scores({.1, .1, .1}, {.1, .1, .1}).r2, 1);
}

Values times(double factor, Values values) {
  for (double& value : values) value *= factor;
  return values;
}

TEST(Regression, DoesNotDependOnTheUnit) {
  const auto expected = regression_scores(kPredicted, kGold);
  for (const double factor : {1e-300, 1e-170, 1e170, 2e307, -1e170}) {
    SCOPED_TRACE(factor);
    const auto found = regression_scores(times(factor, kPredicted), times(factor, kGold));
    EXPECT_NEAR(found.r2, expected.r2, kClose);
    EXPECT_NEAR(found.pearson, expected.pearson, kClose);
    EXPECT_NEAR(found.spearman, expected.spearman, kClose);
    EXPECT_NEAR(pearson(times(factor, kPredicted), kGold), std::copysign(expected.pearson, factor), kClose);
  }
}

TEST(Regression, RefusesWhatIsNotFinite) {
  EXPECT_EQ(refusal([] {
              regression_scores({1, kInfinite}, {1, 2});
            }),
            "metrics/regression: got the predicted value inf for example 1, expected finite values");
  EXPECT_EQ(refusal([] {
              pearson({1, 2}, {std::nan(""), 2});
            }),
            "metrics/regression: got the gold value nan for example 0, expected finite values");
  EXPECT_EQ(refusal([] {
              spearman({1, 2}, {1, -kInfinite});
            }),
            "metrics/regression: got the gold value -inf for example 1, expected finite values");
}

TEST(Regression, RefusesDifferentNumbersOfExamplesAndNone) {
  EXPECT_EQ(refusal([] {
              regression_scores({1, 2}, {1});
            }),
            "metrics/regression: got 2 predicted and 1 gold values, expected equal numbers");
  EXPECT_EQ(refusal([] { pearson({}, {}); }), "metrics/regression: got no examples, expected at least 1");
  EXPECT_EQ(refusal([] { spearman({1}, {}); }),
            "metrics/regression: got 1 predicted and 0 gold values, expected equal numbers");
}

}  // namespace
}  // namespace heed
