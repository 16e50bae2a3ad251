// Samples have the documented distribution, by chi-square tests with d degrees of freedom. The bound is the quantile at
// 1 - 1e-6 by the cube-root approximation of Wilson and Hilferty (1931):
//
//   chi2 = d (1 - 2 / (9 d) + z sqrt(2 / (9 d)))^3,   z = 4.7534 the normal quantile at 1 - 1e-6
//
// Seeds are fixed, so the tests are deterministic.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "heed/kernels/reference/testing.h"

namespace heed::kernels::reference {
namespace {

constexpr size_t kDraws = 20000;

double chi_square_bound(double degrees) {
  const double spread = 2 / (9 * degrees);
  return degrees * std::pow(1 - spread + 4.7534 * std::sqrt(spread), 3);
}

double chi_square(const std::vector<double>& counts, const std::vector<double>& probabilities) {
  double sum = 0;
  for (size_t j = 0; j < counts.size(); ++j) {
    const double expected = static_cast<double>(kDraws) * probabilities[j];
    sum += (counts[j] - expected) * (counts[j] - expected) / expected;
  }
  return sum;
}

Problem<double> five_keys(const std::string& align) {
  auto problem = problem_of("dot + " + align, {1, 1, 1, 1, 5, {1, 1, 1, 1}});
  problem.query.data = {1};
  problem.keys.data = {.3, -1.2, 1, .1, -.4};
  return problem;
}

/// The first key j with u < a_0 + ... + a_j, else the last: inverse transform sampling.
size_t inverse_cdf(const std::vector<double>& weights, double u) {
  double sum = 0;
  for (size_t j = 0; j < weights.size(); ++j) {
    sum += weights[j];
    if (u < sum) return j;
  }
  return weights.size() - 1;
}

// With 4 degrees of freedom, P(chi2 > x) = exp(-x / 2) (1 + x / 2): the approximation is slightly conservative.
TEST(ChiSquare, BoundIsExceededAboutOnceInAMillion) {
  const double x = chi_square_bound(4), chance = std::exp(-x / 2) * (1 + x / 2);
  EXPECT_GT(chance, 1e-7);
  EXPECT_LT(chance, 1e-6);
}

TEST(Hard, SamplesKeysWithTheirSoftmaxWeights) {
  const auto weights = attend(five_keys("softmax")).weights.data;
  auto problem = five_keys("hard");
  problem.sample = true;
  std::vector<double> counts(5, 0);
  for (size_t draw = 0; draw < kDraws; ++draw) {
    problem.seed = draw;
    const auto drawn = attend(problem).weights.data;
    for (size_t j = 0; j < 5; ++j) counts[j] += drawn[j];
  }
  EXPECT_LT(chi_square(counts, weights), chi_square_bound(4));
  EXPECT_GT(chi_square(counts, std::vector<double>(5, .2)), chi_square_bound(4))
      << "the test cannot tell them from uniform samples";
}

// Samples of the queries and channels of one call are independent: each has random numbers of its own.
TEST(Hard, SamplesQueriesAndChannelsIndependently) {
  auto problem = problem_of("dot + hard, multi(lift)", {1, 1, 1, kDraws, 2, {2, 2, 2, 1}});
  std::fill(problem.query.data.begin(), problem.query.data.end(), 0);  // even chances
  problem.sample = true;
  const auto drawn = attend(problem).weights.data;  // [Lq, 2 keys, 2 channels]
  std::vector<double> counts(4, 0);
  for (size_t i = 0; i < kDraws; ++i) {
    const double first = drawn[4 * i], second = drawn[4 * i + 1];  // key 0 is drawn in channel 0, in channel 1
    counts[static_cast<size_t>(2 * first + second)] += 1;
  }
  EXPECT_LT(chi_square(counts, std::vector<double>(4, .25)), chi_square_bound(3));
}

// Gumbel-max and the inverse CDF are two ways to sample one distribution.
TEST(InverseCdf, HasTheGoldenDrawsAndTheDistributionOfHard) {
  const std::vector<double> golden{.30719589, .18632372, .50648039};
  EXPECT_EQ(inverse_cdf(golden, .1), 0U);
  EXPECT_EQ(inverse_cdf(golden, .4), 1U);
  EXPECT_EQ(inverse_cdf(golden, .6), 2U);
  const auto weights = attend(five_keys("softmax")).weights.data;
  std::vector<float> u(kDraws);
  uniforms(1, 0, kAlignment, 0, 0, kDraws, u.data());
  std::vector<double> counts(5, 0);
  for (const float one : u) counts[inverse_cdf(weights, static_cast<double>(one))] += 1;
  EXPECT_LT(chi_square(counts, weights), chi_square_bound(4));
}

// The argmax of the soft sample is the key of the hard sample.
TEST(GumbelSoftmax, HasTheArgmaxThatHardSamples) {
  auto soft = five_keys("gumbel_softmax(.1)"), hard = five_keys("hard");
  soft.sample = hard.sample = true;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    soft.seed = hard.seed = seed;
    const auto a = attend(soft).weights.data, b = attend(hard).weights.data;
    EXPECT_EQ(std::max_element(a.begin(), a.end()) - a.begin(), std::max_element(b.begin(), b.end()) - b.begin());
  }
}

// Every key is in the subset with its own probability: sigmoid of its logit, here the key itself.
TEST(Reinforced, SelectsKeysWithTheProbabilitiesOfThePolicy) {
  auto problem = five_keys("reinforced(identity)");
  problem.sample = true;
  problem.parameters = {{"align.from_keys", {{1, 3}, {1, 0, 0}}},
                        {"align.bias", {{1}, {0}}},
                        {"align.to_logit", {{1, 1}, {1}}},
                        {"align.logit_bias", {{1}, {0}}}};
  std::vector<double> counts(5, 0);
  for (size_t draw = 0; draw < kDraws; ++draw) {
    problem.seed = draw;
    const auto selected = attend(problem).selected.data;
    for (size_t j = 0; j < 5; ++j) counts[j] += selected[j];
  }
  for (size_t j = 0; j < 5; ++j) {
    const double pi = sigmoid(problem.keys.data[j]);
    EXPECT_LT(chi_square({counts[j], kDraws - counts[j]}, {pi, 1 - pi}), chi_square_bound(1)) << j;
  }
}

// One log-probability per batch element and head: below 0, and 0 if there are no keys to select from.
TEST(Reinforced, LogProbabilityIsThatOfTheSubset) {
  auto problem = problem_of("dot + reinforced", {});
  problem.sample = true;
  problem.key_count = {{2}, {3, 0}};
  const auto answer = attend(problem);
  EXPECT_EQ(answer.log_probability.shape, (std::vector<int64_t>{2, 2}));
  EXPECT_LT(answer.log_probability.data[0], 0);
  EXPECT_EQ(answer.log_probability.data[2], 0);  // nothing to choose from
  for (size_t j = 10; j < 20; ++j) EXPECT_EQ(answer.selected.data[j], 0);
}

}  // namespace
}  // namespace heed::kernels::reference
