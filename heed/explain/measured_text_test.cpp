#include "heed/explain/measured_text.h"

#include <limits>

#include <gtest/gtest.h>

#include "heed/explain/by_class.h"
#include "heed/explain/testing_explained.h"

namespace heed {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

MeasuredText text_of(const TokenValues& weights, bool finite = true) {
  return {.positions = {0}, .weights = {weights}, .finite_outputs = {finite}};
}

TEST(MeasuredText, ReasonsWhyWeightsHaveNoOrder) {
  EXPECT_EQ(no_order(text_of({.1, .9}), 0), "");
  EXPECT_EQ(no_order(text_of({}), 0), "no_tokens");
  EXPECT_EQ(no_order(text_of({1}), 0), "one_token");
  EXPECT_EQ(no_order(text_of({0, 0}), 0), "no_weights");
  EXPECT_EQ(no_order(text_of({kNan, 1}), 0), "nan_weights");
  EXPECT_EQ(no_order(text_of({.1, .9}, false), 0), "nan_outputs");
  EXPECT_EQ(no_order(text_of({.5, .5}), 0), "constant_weights");
  EXPECT_EQ(no_order(text_of({-1, 2}), 0), "");
  EXPECT_EQ(no_distribution(text_of({-1, 2}), 0), "negative_weights");
  EXPECT_EQ(no_distribution(text_of({.5, .5}), 0), "");
}

TEST(MeasuredText, RoundingErrorsAreConstant) {
  EXPECT_TRUE(constant({1.0F / 3, 1.0F / 3 + 3e-8F}));
  EXPECT_FALSE(constant({0.333, 0.334}));
  EXPECT_FALSE(constant({1e-12, 2e-12}));
  EXPECT_TRUE(constant({0, 0}));
}

TEST(MeasuredText, MedianIsThatOfNumPy) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({5}), 5);
}

TEST(MeasuredText, LargestWeightIsOfNormalizedWeights) {
  EXPECT_EQ(max_weight({1, 3}), .75);
  EXPECT_EQ(max_weight({0, 0}), 0);
}

TEST(MeasuredText, ReadsTokensAndPositionsWithoutPadding) {
  const auto model = testing::faithful_model({.positions = 2, .ends = {2, 1, 2, 1, 2}, .padding = 2});
  const auto texts = measured_texts(*model->read({2, 1}));
  EXPECT_EQ(texts[0].slots, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(texts[0].positions, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(texts[1].positions, (std::vector<int64_t>{0}));
  EXPECT_EQ(texts[1].weights.size(), 1U);
  EXPECT_NEAR(texts[1].weights[0][1], 8, 1e-5);
}

TEST(MeasuredText, DistanceOfIndependentClassesIsTheirMean) {
  const auto model = testing::faithful_model();
  const auto batch = model->read({0});
  const Tensor rows = at::zeros({1}, at::kLong), other = batch->outputs + at::tensor({.2F, -.1F});
  EXPECT_NEAR(output_distances(*batch, {}, rows, other).item<double>(), .15, 1e-6);
  EXPECT_NEAR(output_distances(*batch, {.several = true}, rows, other).item<double>(), .15, 1e-6);
  const testing::MadeModel three({{"a", 0, {0, 0, 0}}}, {"a"});
  testing::MadeBatch thirds(three, {0});
  const Tensor moved = thirds.outputs + at::tensor({.3F, -.1F, -.2F});
  EXPECT_NEAR(output_distances(thirds, {}, rows, moved).item<double>(), .3, 1e-6);
  EXPECT_NEAR(output_distances(thirds, {.several = true}, rows, moved).item<double>(), .2, 1e-6);
}

TEST(ByClass, GroupsAreThoseOfPredictedClasses) {
  std::vector<ExplanationRecord> records{{{"class", 1}, {"x", 2.0}}, {{"class", 0}}, {{"class", 1}, {"x", 4.0}}};
  const auto groups = groups_of(records, {.classes = {"negative", "positive"}});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].name, "negative");
  EXPECT_EQ(numbers_of(groups[1], "x"), (std::vector<double>{2, 4}));
  EXPECT_EQ(groups[2].records.size(), 3U);
  records[1]["class"] = 1;
  EXPECT_EQ(groups_of(records, {}).size(), 1U);
}

TEST(ByClass, VerdictIsThatOfTheWholeInterval) {
  const auto verdict = [](double value, double low, double high, size_t texts = 20) {
    return verdict_of({.value = value, .low = low, .high = high}, texts, {}, .5, .7);
  };
  EXPECT_EQ(verdict(.45, .4, .49), ExplanationVerdict::speaks_against);
  EXPECT_EQ(verdict(.45, .4, .51), ExplanationVerdict::neither);
  EXPECT_EQ(verdict(.75, .69, .8), ExplanationVerdict::neither);
  EXPECT_EQ(verdict(.75, .7, .8), ExplanationVerdict::speaks_for);
  EXPECT_EQ(verdict(.45, .4, .49, 19), ExplanationVerdict::neither);
  EXPECT_EQ(verdict_of({.value = .4}, 20, {}, .5, .7), ExplanationVerdict::neither);
  EXPECT_EQ(verdict_of({}, 20, {}, .5, .7), ExplanationVerdict::neither);
  EXPECT_EQ(too_few(20, {}), "");
  EXPECT_EQ(too_few(1, {}), "; 1 text is too few for a verdict");
}

TEST(ByClass, CellsHaveIntervalsAndNoNaN) {
  const ExplainedFacts facts;
  const TestSummaryOptions options{.samples = 100, .min_texts = 1};
  const ExplanationCell mean = mean_cell({0, 1, 2, 3}, options);
  EXPECT_EQ(mean.value, 1.5);
  EXPECT_LT(mean.low.value(), 1.5);
  EXPECT_GT(mean.high.value(), 1.5);
  EXPECT_EQ(median_cell({0, 1, 5}, options).value, 1);
  EXPECT_EQ(deviation_cell({1, 3}).value, 1);
  EXPECT_FALSE(mean_cell({}, options).value.has_value());
  EXPECT_EQ(median_cell({}, options).text, "-");
  EXPECT_EQ(share_cell(
                {1, 2, 3, 4}, [](double x) { return x > 3; }, options)
                .value,
            .25);
}

}  // namespace
}  // namespace heed
