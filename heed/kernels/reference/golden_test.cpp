// The reference against numbers that another program computed: values, and gradients by the complex step.

#include <cctype>

#include <gtest/gtest.h>

#include "heed/kernels/reference/golden_cases.h"
#include "heed/kernels/reference/testing.h"

namespace heed::kernels::reference {
namespace {

constexpr double kTolerance = 1e-7;  // golden numbers have eight decimals

void expect_near(const std::vector<double>& got, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], kTolerance) << what << " at " << i;
}

const Problem<double>& problem_named(const std::string& name) {
  static const auto cases = golden();
  for (const auto& one : cases) {
    if (one.name == name) return one.problem;
  }
  fail("no golden case is called ", name);
}

class EveryGolden : public testing::TestWithParam<Golden> {};

TEST_P(EveryGolden, GivesTheGoldenAnswer) {
  const auto answer = attend(GetParam().problem);
  const auto got = outputs(answer);
  for (const auto& [name, expected] : GetParam().expected) expect_near(got.at(name)->data, expected, name);
}

/// The cases of the table that have gradients.
std::vector<Golden> golden_with_gradients() {
  std::vector<Golden> some;
  for (auto& one : golden()) {
    if (!one.grads.empty()) some.push_back(std::move(one));
  }
  return some;
}

class EveryGoldenGradient : public testing::TestWithParam<Golden> {};

TEST_P(EveryGoldenGradient, IsThatOfTheContext) {
  for (const auto& [name, expected] : GetParam().grads) {
    expect_near(gradients(GetParam().problem, name, upstream_of(GetParam().upstream)), expected, "gradient of " + name);
  }
}

std::string test_name(const testing::TestParamInfo<Golden>& test) {
  std::string name = test.param.name;
  for (char& letter : name) letter = std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Table, EveryGolden, testing::ValuesIn(golden()), test_name);
INSTANTIATE_TEST_SUITE_P(Table, EveryGoldenGradient, testing::ValuesIn(golden_with_gradients()), test_name);

TEST(Golden, NamesAreDifferent) {
  std::map<std::string, int> seen;
  for (const auto& one : golden()) EXPECT_EQ(++seen[one.name], 1) << one.name;
}

// d logp / de = 1[j = m] - a_j, m = 1.
TEST(Hard, LogProbabilityHasTheGoldenGradients) {
  const Loss logp = [](const auto& answer) { return answer.log_probability.data[0]; };
  expect_near(gradients(problem_named("hard"), "bias", logp), {-.30719589, .81367628, -.50648039}, "dlogp");
}

// dH / de = -a (log a + H).
TEST(Hard, EntropyHasTheGoldenGradients) {
  const Loss entropy = [](const auto& answer) { return answer.entropy.data[0]; };
  expect_near(gradients(problem_named("hard"), "bias", entropy), {.04917541, .12298825, -.17216366}, "dH");
}

// Reward -2, baseline -2.5: loss = -(.5 logp + .01 H).
TEST(Hard, RewardReachesTheScoresThroughLogProbabilityAndEntropy) {
  const Loss loss = [](const auto& answer) {
    return -(0.5 * answer.log_probability.data[0] + 0.01 * answer.entropy.data[0]);
  };
  expect_near(gradients(problem_named("hard"), "bias", loss), {.15310619, -.40806802, .25496183}, "dL");
}

// d logp / d logit = z - pi; the logit is the second feature of a key.
TEST(Reinforced, LogProbabilityHasTheGoldenGradients) {
  const Loss logp = [](const auto& answer) { return answer.log_probability.data[0]; };
  const auto by_keys = gradients(problem_named("reinforced"), "keys", logp);
  const double expected[] = {.1, -.2, .4, -.3, .3, -.5};
  for (size_t j = 0; j < 6; ++j) {
    EXPECT_NEAR(by_keys[2 * j + 1], expected[j], kTolerance) << j;
    EXPECT_EQ(by_keys[2 * j], 0) << j;
  }
}

// dq through the position alone is (-.03801977, .09631643); the scores of the case do not depend on the second feature.
TEST(LocalP, QueryHasAGradientThroughThePosition) {
  EXPECT_NEAR(gradients(problem_named("local_p/plain"), "query", upstream_of({1}))[1], .09631643, kTolerance);
}

// The squared penalty of two rows of weights against 1: lam = 1, dot and additive.
TEST(Softmax, WeightsGiveTheGoldenDoublyStochasticPenalty) {
  const auto dot = attend(problem_named("score/dot")).weights.data,
             additive = attend(problem_named("score/additive")).weights.data;
  double penalty = 0;
  for (size_t j = 0; j < 3; ++j) penalty += (1 - dot[j] - additive[j]) * (1 - dot[j] - additive[j]);
  EXPECT_NEAR(penalty, .41876475, kTolerance);
}

}  // namespace
}  // namespace heed::kernels::reference
