// Answers by hand on models made for tests (testing_explained.h).

#include <cmath>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/explain/test.h"
#include "heed/explain/testing_explained.h"
#include "heed/explain/testing_measure.h"

namespace heed {
namespace {

using testing::measured;
using testing::undefined_reason;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// "yes" has eight times the weight of "no".
testing::MadeModel yes_no(const std::vector<std::string>& texts, testing::MadeOptions options = {}) {
  return testing::MadeModel({{"yes", std::log(8.0), {0, 2}}, {"no", 0, {2, 0}}}, texts, std::move(options));
}

// Weights .8 .1 .1. Two of three permutations give "yes" .1: the logit goes from 1.2 to -1.6.
TEST(PermutationTest, MedianIsThatOfMostPermutations) {
  auto model = yes_no({"yes no no", "no yes no"});
  for (const auto& record : measured("permutation", model)) {
    EXPECT_NEAR(record.at("tvd").get<double>(), sigmoid(1.2) - sigmoid(-1.6), 1e-6);
    EXPECT_NEAR(record.at("max_weight").get<double>(), 0.8, 1e-6);
  }
}

// At position 1 the weights are those of the scores / 2: r = sqrt(8), r / (r + 2), 1 / (r + 2) twice.
TEST(PermutationTest, PositionsAreAveragedWithoutPadding) {
  auto model = yes_no({"yes no no", "no yes no"}, {.positions = 2, .ends = {2, 1}});
  const auto records = measured("permutation", model);
  const double first = sigmoid(1.2) - sigmoid(-1.6), sum = std::sqrt(8.0) + 2;
  const double second = sigmoid((2 * std::sqrt(8.0) - 4) / sum) - sigmoid((2 - 2 * (std::sqrt(8.0) + 1)) / sum);
  EXPECT_NEAR(records[0].at("tvd").get<double>(), (first + second) / 2, 1e-6);
  EXPECT_NEAR(records[1].at("tvd").get<double>(), first, 1e-6);
}

// Weights 8 1 1 are not divided by 10: the logit goes from 12 to -16.
TEST(PermutationTest, WeightsThatDoNotSumToOneArePermutedAsTheyAre) {
  testing::MadeModel model({{"yes", std::log(8.0), {0, .2}}, {"no", 0, {.2, 0}}}, {"yes no no"},
                           {.alignment = testing::MadeWeights::free});
  const auto record = measured("permutation", model)[0];
  EXPECT_NEAR(record.at("tvd").get<double>(), sigmoid(1.2) - sigmoid(-1.6), 1e-6);
  EXPECT_NEAR(record.at("max_weight").get<double>(), 0.8, 1e-6);
}

// Of 50 tokens with one "yes" the weight of "yes" stays with it once in 50 permutations.
TEST(PermutationTest, OneSampleIsAPermutation) {
  std::string text = "yes";
  for (int i = 0; i < 49; ++i) text += " no";
  auto model = yes_no(std::vector<std::string>(200, text));
  double unchanged = 0;
  for (const auto& record : measured("permutation(samples=1)", model))
    if (record.at("tvd").get<double>() < 1e-6) ++unchanged;
  EXPECT_LT(unchanged, 15);  // 4 expected
}

TEST(PermutationTest, ModelThatIgnoresItsWeightsChangesNothing) {
  auto model = yes_no({"yes no no", "yes no", "no yes", "no no yes", "no yes no"}, {.ignores_weights = true});
  const auto test = ExplanationTest::Parts::make("permutation");
  const auto records = measured(*test, model);
  for (const auto& record : records) EXPECT_EQ(record.at("tvd").get<double>(), 0);
  EXPECT_EQ(test->summarize(records, {.model = &model, .samples = 50, .min_texts = 1}).verdict,
            ExplanationVerdict::speaks_against);
}

TEST(PermutationTest, BatchesChangeNothing) {
  auto model = yes_no({"yes no no no yes", "no yes no", "yes yes no no", "no no yes"});
  const auto test = ExplanationTest::Parts::make("permutation(samples=7)");
  const auto together = measured(*test, model), alone = measured(*test, model, {0, 1, 2, 3}, 1);
  for (size_t i = 0; i < alone.size(); ++i)
    EXPECT_NEAR(together[i].at("tvd").get<double>(), alone[i].at("tvd").get<double>(), 1e-6);
  const auto other = measured(*test, model, {0, 1, 2, 3}, 0, /*seed=*/2);
  EXPECT_NE(together, other);
}

TEST(PermutationTest, DegenerateTextsHaveAReason) {
  const auto model = testing::degenerate_model({.padding = 1});
  const auto records = measured("permutation", *model);
  const std::vector<std::string> expected{"one_token", "no_tokens", "constant_weights", "nan_weights", "no_weights",
                                          "",          ""};
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(undefined_reason(records[i]), expected[i]);
    EXPECT_TRUE(testing::finite(records[i])) << records[i].dump();
  }
}

TEST(PermutationTest, SummaryHasFourBinsOfTheLargestWeight) {
  auto model = yes_no({"yes no no", "no yes no", "no no yes", "yes no", "no yes", "no yes yes yes yes yes"});
  const auto test = ExplanationTest::Parts::make("permutation");
  const auto result = test->summarize(measured(*test, model), {.model = &model, .samples = 50, .min_texts = 1});
  EXPECT_EQ(result.verdict, ExplanationVerdict::speaks_for);
  ASSERT_EQ(result.tables.size(), 2U);
  ASSERT_EQ(result.tables[1].rows.size(), 4U);
  EXPECT_EQ(result.tables[1].rows[0].cells[0].text, "1");  // .2
  EXPECT_EQ(result.tables[1].rows[3].cells[0].text, "5");  // .8 and .89
  ASSERT_EQ(result.plots.size(), 1U);
  EXPECT_EQ(result.plots[0].series[3].points.size(), 5U);
}

TEST(PermutationTest, FewTextsWithPeakedWeightsAreNoVerdict) {
  auto model = yes_no({"yes no no", "no yes no"}, {.ignores_weights = true});
  const auto test = ExplanationTest::Parts::make("permutation");
  const auto result = test->summarize(measured(*test, model), {.model = &model, .samples = 50});
  EXPECT_EQ(result.verdict, ExplanationVerdict::neither);
  EXPECT_NE(result.finding.find("too few"), std::string::npos);
  EXPECT_EQ(test->summarize({}, {.model = &model}).verdict, ExplanationVerdict::neither);
}

TEST(PermutationTest, RefusesNoSamples) {
  EXPECT_THROW(ExplanationTest::Parts::make("permutation(samples=0)"), Error);
}

}  // namespace
}  // namespace heed
