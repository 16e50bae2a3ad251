// Answers by hand on models made for tests (testing_explained.h).

#include <gtest/gtest.h>

#include "heed/explain/test.h"
#include "heed/explain/testing_explained.h"
#include "heed/explain/testing_measure.h"

namespace heed {
namespace {

using testing::measured;
using testing::undefined_reason;

TEST(GradientsTest, FaithfulWeightsHaveTheOrderOfTheGradients) {
  const auto model = testing::faithful_model();
  const auto records = measured("gradients", *model);
  ASSERT_EQ(records.size(), 5U);
  for (const auto& record : records) EXPECT_NEAR(record.at("tau").get<double>(), 1, 1e-12) << record.dump();
  EXPECT_NEAR(records[0].at("p").get<double>(), 2 / 24.0, 1e-12);  // 4 tokens: one order of 24, twice
  EXPECT_EQ(records[2].at("p").get<double>(), 1);                  // 2 tokens
  EXPECT_EQ(records[0].at("top_k_distance").get<double>(), 0);
  EXPECT_EQ(records[0].at("class"), 1);
  EXPECT_EQ(records[1].at("class"), 0);
}

// y_1 = sigmoid(l), l = sum a_t v_t, so |dy_c/dx_t . x_t| = y_0 y_1 a_t v_t for both classes. a: 1 8 4 2.
TEST(GradientsTest, GradientsAreWeightsTimesValues) {
  const auto model = testing::faithful_model();
  const auto records = measured("gradients", *model);
  const auto map = records[0].at("importance").get<std::vector<double>>();
  const std::vector<double> expected{1 / 15.0, 8 / 15.0, 4 / 15.0, 2 / 15.0};
  ASSERT_EQ(map.size(), expected.size());
  for (size_t i = 0; i < map.size(); ++i) EXPECT_NEAR(map[i], expected[i], 1e-4);
}

// Three classes; values are for one class each. With all logits 0.2, 0.1, 0.4 the sums over classes follow by hand.
TEST(GradientsTest, GradientsAreSummedOverAllClasses) {
  testing::MadeModel model(
      {{"a", std::log(2.0), {0.1, 0, 0}}, {"b", 0, {0, 0.1, 0}}, {"c", std::log(4.0), {0, 0, 0.1}}}, {"a b c"},
      {.alignment = testing::MadeWeights::free});
  const auto records = measured("gradients", model);
  const std::vector<double> logits{0.2, 0.1, 0.4};
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  std::vector<double> expected;
  double total = 0;
  for (const double logit : logits) {  // |dy_c/dl_t| l_t summed over c: y_t (1 - y_t) + sum of the others y_t y_c
    const double y = std::exp(logit) / sum;
    expected.push_back(2 * y * (1 - y) * logit);
    total += expected.back();
  }
  const auto map = records[0].at("importance").get<std::vector<double>>();
  for (size_t i = 0; i < map.size(); ++i) EXPECT_NEAR(map[i], expected[i] / total, 1e-4);
}

TEST(GradientsTest, IndependentClassesAreSummedToo) {
  testing::MadeModel model({{"a", std::log(2.0), {1, 0}}, {"b", 0, {0, 1}}}, {"a b b"},
                           {.alignment = testing::MadeWeights::free, .several = true});
  const auto records = measured("gradients", model);  // sigmoid'(2) 2 of a; sigmoid'(2) 1 of each b
  EXPECT_FALSE(records[0].contains("class"));
  const auto map = records[0].at("importance").get<std::vector<double>>();
  EXPECT_NEAR(map[0], 0.5, 1e-4);
  EXPECT_NEAR(map[1], 0.25, 1e-4);
}

// The weights decide nothing and have the opposite order of the values.
TEST(GradientsTest, OppositeOrderIsMinusOneAndSpeaksAgainst) {
  testing::MadeModel model({{"w", 3, {0, 0.1}}, {"x", 2, {0, 0.2}}, {"y", 1, {0, 0.3}}, {"z", 0, {0, 0.4}}},
                           {"w x y z", "z y x w"}, {.ignores_weights = true});
  const auto test = ExplanationTest::Parts::make("gradients");
  const auto records = measured(*test, model);
  for (const auto& record : records) EXPECT_NEAR(record.at("tau").get<double>(), -1, 1e-12);
  const auto result = test->summarize(records, {.model = &model, .samples = 50, .min_texts = 1});
  EXPECT_EQ(result.verdict, ExplanationVerdict::speaks_against);
  EXPECT_EQ(result.figure_name, "mean tau");
  EXPECT_EQ(result.figure.value, result.tables[0].rows.back().cells[1].value);
}

// Of "twin the a twin" the sum of the twins is above the cap: the gradient of each is 0. Weights 4 2 1 4, gradients 0 2
// 1 0: one pair in the same order, four in the opposite one, one tied in both: (1 - 4) / 5.
TEST(GradientsTest, RedundantTokensHaveNoGradient) {
  const auto model = testing::redundant_model();
  EXPECT_NEAR(measured("gradients", *model)[0].at("tau").get<double>(), -0.6, 1e-12);
}

TEST(GradientsTest, PositionsAreAveragedWithoutPadding) {
  const auto model = testing::faithful_model({.positions = 2, .ends = {2, 1, 2, 1, 2}});
  for (const auto& record : measured("gradients", *model)) {
    EXPECT_NEAR(record.at("tau").get<double>(), 1, 1e-12) << record.dump();
    EXPECT_EQ(record.contains("p"), record.at("item") == 1 || record.at("item") == 3);
    EXPECT_FALSE(record.contains("class"));
  }
}

TEST(GradientsTest, DegenerateTextsHaveAReason) {
  const auto model = testing::degenerate_model({.padding = 1});
  const auto records = measured("gradients", *model);
  const std::vector<std::string> expected{"one_token", "no_tokens", "constant_weights", "nan_weights", "no_weights",
                                          "",          ""};
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(undefined_reason(records[i]), expected[i]);
    EXPECT_EQ(records[i].contains("tau"), expected[i].empty());
    EXPECT_TRUE(testing::finite(records[i])) << records[i].dump();
  }
  EXPECT_NEAR(records[5].at("tau").get<double>(), 1, 1e-12);
}

TEST(GradientsTest, SummaryHasTheTableOfThePaper) {
  const auto model = testing::faithful_model();
  const auto test = ExplanationTest::Parts::make("gradients");
  const auto result =
      test->summarize(measured(*test, *model), {.model = model.get(), .samples = 50, .examples = 1, .min_texts = 1});
  EXPECT_EQ(result.verdict, ExplanationVerdict::speaks_for);
  ASSERT_EQ(result.tables.size(), 1U);
  const auto& table = result.tables.front();
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0].name, "class 0");
  EXPECT_EQ(table.rows[0].cells[0].text, "2");
  EXPECT_EQ(table.rows[2].name, "all");
  ASSERT_EQ(table.rows[2].cells.size() + 1, table.columns.size());
  EXPECT_NEAR(table.rows[2].cells[1].value.value(), 1, 1e-12);
  EXPECT_NEAR(table.rows[2].cells[2].value.value(), 0, 1e-12);
  EXPECT_EQ(table.rows[2].cells[3].value, 0);  // no text is long enough for p <= .05
  EXPECT_EQ(result.examples.size(), 2U);
  EXPECT_EQ(result.examples[0].maps.size(), 2U);
  EXPECT_EQ(result.counts, (std::vector<std::pair<std::string, int64_t>>{{"texts", 5}}));
}

TEST(GradientsTest, SummaryOfDegenerateTextsConcludesNothing) {
  const auto model = testing::degenerate_model();
  const auto test = ExplanationTest::Parts::make("gradients");
  const auto result =
      test->summarize(measured(*test, *model, {0, 1, 2, 3, 4}), {.model = model.get(), .samples = 50, .min_texts = 1});
  EXPECT_EQ(result.verdict, ExplanationVerdict::neither);
  EXPECT_EQ(result.counts.size(), 6U);
  EXPECT_EQ(result.counts[2], (std::pair<std::string, int64_t>{"left out: nan weights", 1}));
  EXPECT_FALSE(result.finding.empty());
  EXPECT_FALSE(result.tables.front().rows.back().cells[1].value.has_value());
  test->summarize({}, {.model = model.get(), .samples = 50, .min_texts = 1});
}

TEST(GradientsTest, NeedsAModelThatAttends) {
  const auto test = ExplanationTest::Parts::make("gradients");
  EXPECT_EQ(test->why_not({}, false), "");
  EXPECT_NE(test->why_not({.attends = false}, false), "");
}

}  // namespace
}  // namespace heed
