#include "heed/metrics/distribution_distance.h"

#include <cmath>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using Values = std::vector<double>;

const Values kOne{.7, .2, .1}, kOther{.1, .2, .7};
const double kLog2 = std::log(2.0);

TEST(DistributionDistance, GoldenNumbers) {
  EXPECT_NEAR(total_variation(kOne, kOther), .6, 1e-12);
  EXPECT_NEAR(jensen_shannon(kOne, kOther), .25310162, 5e-9);
  EXPECT_NEAR(kullback_leibler(kOne, kOther, 0), 1.16754609, 5e-9);
  EXPECT_NEAR(kullback_leibler(kOne, kOther), 1.16754609, 1e-8);
  EXPECT_NEAR(jensen_shannon({1, 0}, {0, 1}), .69314718, 5e-9);
}

TEST(DistributionDistance, EqualDistributionsAreAtZero) {
  for (const Values& p : {kOne, Values{1, 0, 0}, Values{1}, Values{}}) {
    EXPECT_EQ(total_variation(p, p), 0);
    EXPECT_EQ(mean_absolute_difference(p, p), 0);
    EXPECT_EQ(jensen_shannon(p, p), 0);
    EXPECT_EQ(kullback_leibler(p, p, 0), 0);
    EXPECT_EQ(kullback_leibler(p, p), 0);
    EXPECT_EQ(jensen_shannon_with(p, p), 0);
  }
}

TEST(DistributionDistance, ClassesThatAreIndependentAreAveraged) {
  EXPECT_NEAR(mean_absolute_difference({.9, .2, .5}, {.6, .2, .8}), .2, 1e-12);
  const double p = .9, q = .3;  // of one class that of two that sum to 1
  EXPECT_NEAR(mean_absolute_difference({p}, {q}), total_variation({p, 1 - p}, {q, 1 - q}), 1e-12);
}

TEST(DistributionDistance, WeightsOfZeroAreExact) {
  EXPECT_NEAR(jensen_shannon({.5, .5, 0}, {.5, 0, .5}), kLog2 / 2, 1e-12);
  EXPECT_NEAR(kullback_leibler({.5, .5, 0}, {.25, .5, .25}, 0), .5 * kLog2, 1e-12);
  EXPECT_EQ(kullback_leibler({.5, .5}, {1, 0}, 0), std::numeric_limits<double>::infinity());
}

TEST(DistributionDistance, EpsilonBoundsWhatSparseWeightsLack) {
  const double expected = .5 * std::log(.5) + .5 * (std::log(.5) - std::log(1e-10));
  EXPECT_NEAR(kullback_leibler({.5, .5}, {1, 0}), expected, 1e-8);
  EXPECT_NEAR(-std::log(kDivergenceEpsilon), 23.03, .01);
}

TEST(DistributionDistance, EpsilonChangesJsdByLessThanTwoOfItForEachKey) {
  const double epsilon = 1e-3;
  double largest = 0;
  for (const Values& p : {kOne, Values{1, 0, 0}, Values{.5, .5, 0}, Values{.001, .009, .99}})
    for (const Values& q : {kOther, Values{0, 1, 0}, Values{0, .5, .5}, Values{.99, .009, .001}}) {
      const double difference = std::abs(jensen_shannon_with(p, q, epsilon) - jensen_shannon(p, q));
      EXPECT_LT(difference, 2 * epsilon * 3);
      largest = std::max(largest, difference);
    }
  EXPECT_GT(largest, epsilon / 10);
}

TEST(DistributionDistance, AgreesWithSciPy) {
  const auto fixture = nlohmann::json::parse(std::ifstream("heed/metrics/fixtures/rank_correlation.json"));
  EXPECT_GE(fixture.at("divergences").size(), 60U);
  for (const auto& one : fixture.at("divergences")) {
    SCOPED_TRACE(one.dump());
    const auto p = one["p"].get<Values>(), q = one["q"].get<Values>();
    EXPECT_NEAR(total_variation(p, q), one["tvd"].get<double>(), 1e-12);
    EXPECT_NEAR(jensen_shannon(p, q), one["jsd"].get<double>(), 1e-12);
    EXPECT_NEAR(kullback_leibler(p, q), one["kl_epsilon"].get<double>(), 1e-12);
    EXPECT_NEAR(jensen_shannon_with(p, q), one["jsd_epsilon"].get<double>(), 1e-12);
    if (one["kl"].is_null())
      EXPECT_TRUE(std::isinf(kullback_leibler(p, q, 0)));
    else
      EXPECT_NEAR(kullback_leibler(p, q, 0), one["kl"].get<double>(), 1e-12);
  }
}

TEST(DistributionDistance, RefusesDifferentSizes) {
  EXPECT_EQ(refusal([] {
              total_variation({1}, {.5, .5});
            }),
            "metrics/distribution_distance: got 1 and 2 probabilities, expected equal numbers");
  EXPECT_EQ(refusal([] { kullback_leibler({1}, {1}, -1); }),
            "metrics/distribution_distance: got the epsilon -1, expected 0 or more");
}

}  // namespace
}  // namespace heed
