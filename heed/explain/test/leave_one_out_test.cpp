// Answers by hand on models made for tests (testing_explained.h).

#include <cmath>

#include <gtest/gtest.h>

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

// Without token t the logit 1.5 loses .1 a_t, a = 1 8 4 2.
TEST(LeaveOneOutTest, FaithfulWeightsHaveTheOrderOfTheChanges) {
  const auto model = testing::faithful_model();
  const auto records = measured("leave_one_out", *model);
  ASSERT_EQ(records.size(), 5U);
  for (const auto& record : records) EXPECT_NEAR(record.at("tau").get<double>(), 1, 1e-12) << record.dump();
  const std::vector<double> left{1.4, 0.7, 1.1, 1.3};
  double sum = 0;
  for (const double logit : left) sum += sigmoid(1.5) - sigmoid(logit);
  const auto map = records[0].at("importance").get<std::vector<double>>();
  for (size_t i = 0; i < map.size(); ++i) EXPECT_NEAR(map[i], (sigmoid(1.5) - sigmoid(left[i])) / sum, 1e-4);
}

// "the" and "a" change the output, either twin does not: weights 4 2 1 4, changes 0 x y 0 with x > y.
TEST(LeaveOneOutTest, RedundantTokensChangeNothing) {
  const auto model = testing::redundant_model();
  const auto record = measured("leave_one_out", *model)[0];
  EXPECT_NEAR(record.at("tau").get<double>(), -0.6, 1e-12);
  EXPECT_EQ(record.at("importance")[0], 0);
  EXPECT_EQ(record.at("importance")[3], 0);
}

// Equal values: whatever is removed, their mean is the same.
TEST(LeaveOneOutTest, ChangesOfZeroHaveNoOrder) {
  const auto model = testing::ignoring_model();
  for (const auto& record : measured("leave_one_out", *model)) EXPECT_EQ(undefined_reason(record), "constant_removals");
}

// The mean of .1 .2 .6 is .3: distances to it .2 .1 .3 are the changes; weights have the order 3 2 1.
TEST(LeaveOneOutTest, ModelThatIgnoresItsWeightsHasItsOwnOrder) {
  testing::MadeModel model({{"x", 2, {0, 0.1}}, {"y", 1, {0, 0.2}}, {"z", 0, {0, 0.6}}}, {"x y z"},
                           {.ignores_weights = true});
  EXPECT_NEAR(measured("leave_one_out", model)[0].at("tau").get<double>(), -1.0 / 3, 1e-12);
}

TEST(LeaveOneOutTest, IndependentClassesAreAveraged) {
  testing::MadeModel model({{"a", std::log(2.0), {1, 0}}, {"b", 0, {0, 1}}}, {"a b"},
                           {.alignment = testing::MadeWeights::free, .several = true});
  const auto map = measured("leave_one_out", model)[0].at("importance").get<std::vector<double>>();
  const double a = sigmoid(2) - 0.5, b = sigmoid(1) - 0.5;
  EXPECT_NEAR(map[0], a / (a + b), 1e-4);
}

TEST(LeaveOneOutTest, BatchesChangeNothing) {
  const auto model = testing::faithful_model({.positions = 2, .ends = {2, 1, 2, 1, 2}});
  const auto test = ExplanationTest::Parts::make("leave_one_out");
  EXPECT_EQ(measured(*test, *model, {0, 1, 2, 3, 4}), measured(*test, *model, {0, 1, 2, 3, 4}, 2));
}

TEST(LeaveOneOutTest, DegenerateTextsHaveAReason) {
  const auto model = testing::degenerate_model({.padding = 1});
  const auto records = measured("leave_one_out", *model);
  const std::vector<std::string> expected{"one_token",  "no_tokens",         "constant_weights", "nan_weights",
                                          "no_weights", "constant_removals", "constant_removals"};
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(undefined_reason(records[i]), expected[i]);
    EXPECT_TRUE(testing::finite(records[i])) << records[i].dump();
  }
}

TEST(LeaveOneOutTest, VerdictFollowsTheMeanTau) {
  const auto test = ExplanationTest::Parts::make("leave_one_out");
  const auto faithful = testing::faithful_model(), redundant = testing::redundant_model();
  const auto verdict = [&](ExplainedModel& model) {
    return test->summarize(measured(*test, model), {.model = &model, .samples = 50, .min_texts = 1}).verdict;
  };
  EXPECT_EQ(verdict(*faithful), ExplanationVerdict::speaks_for);
  EXPECT_EQ(verdict(*redundant), ExplanationVerdict::speaks_against);
  const auto record = [](double tau) { return ExplanationRecord{{"tokens", 5}, {"item", 0}, {"tau", tau}}; };
  const TestSummaryOptions options{.model = faithful.get(), .samples = 50, .min_texts = 1};
  EXPECT_EQ(test->summarize({record(.7)}, options).verdict, ExplanationVerdict::speaks_for);
  EXPECT_EQ(test->summarize({record(.5), record(.69)}, options).verdict, ExplanationVerdict::neither);
  EXPECT_EQ(test->summarize({record(.49)}, options).verdict, ExplanationVerdict::speaks_against);
}

}  // namespace
}  // namespace heed
