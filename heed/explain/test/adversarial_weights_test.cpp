// Answers by hand on models made for tests (testing_explained.h).

#include <cmath>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/explain/test.h"
#include "heed/explain/testing_explained.h"
#include "heed/explain/testing_measure.h"
#include "heed/metrics/distribution_distance.h"

namespace heed {
namespace {

using testing::measured;
using testing::undefined_reason;

/// Weights .6 .2 .2 of "big small small", whatever the values are.
std::vector<testing::MadeToken> tokens_of(double big, double small, double other) {
  return {{"big", std::log(3.0), {0, big}}, {"small", 0, {0, small}}, {"other", 0, {other, 0}}};
}

// The outputs are the same under all weights: nearly all of the weight goes to a token with .2.
TEST(AdversarialWeightsTest, ModelThatIgnoresItsWeightsHasTheMostDifferentOnes) {
  testing::MadeModel model(tokens_of(1, 1, 1), {"big small other"}, {.ignores_weights = true});
  const auto test = ExplanationTest::Parts::make("adversarial_weights");
  const auto records = measured(*test, model);
  const double largest = jensen_shannon({.6, .2, .2}, {0, 1, 0});
  EXPECT_GT(records[0].at("jsd").get<double>(), 0.97 * largest);
  EXPECT_LE(records[0].at("jsd").get<double>(), largest + 1e-6);
  EXPECT_EQ(records[0].at("tvd").get<double>(), 0);
  EXPECT_NEAR(records[0].at("within").get<double>(), 1, 1e-12);
  const auto result = test->summarize(records, {.model = &model, .samples = 50, .min_texts = 1});
  EXPECT_EQ(result.verdict, ExplanationVerdict::speaks_against);
}

// Of two tokens with the values +3 and -3 the weights follow from the output.
TEST(AdversarialWeightsTest, FaithfulWeightsHaveNoAdversary) {
  testing::MadeModel model(tokens_of(3, 0, 3), {"big other", "other big"});
  const auto test = ExplanationTest::Parts::make("adversarial_weights");
  const auto records = measured(*test, model);
  for (const auto& record : records) {
    EXPECT_LT(record.at("jsd").get<double>(), 0.001) << record.dump();
    EXPECT_LE(record.at("tvd").get<double>(), 0.01);
  }
  const auto result = test->summarize(records, {.model = &model, .samples = 50, .min_texts = 1});
  EXPECT_EQ(result.verdict, ExplanationVerdict::speaks_for);
}

// "big" and "small" have the same value, so their .8 may be anywhere between them; "other" keeps its .2.
TEST(AdversarialWeightsTest, RedundantTokensExchangeTheirWeight) {
  testing::MadeModel model(tokens_of(4, 4, 4), {"big small other"});
  const auto record = measured("adversarial_weights(distributions=30)", model)[0];
  const double expected = jensen_shannon({.6, .2, .2}, {0, .8, .2});
  EXPECT_GT(record.at("jsd").get<double>(), 0.8 * expected);
  EXPECT_LT(record.at("jsd").get<double>(), 1.1 * expected);  // epsilon lets "other" change a little
  EXPECT_LE(record.at("tvd").get<double>(), 0.01);
  const auto found = record.at("adversarial").get<std::vector<double>>();
  EXPECT_LT(found[0], 0.15);
  EXPECT_NEAR(found[2], 0.2, 0.02);
}

// Weights 3 1 1 of a model that does not divide them: adversaries have the sum 5 too.
TEST(AdversarialWeightsTest, AdversariesHaveTheSumOfTheWeights) {
  testing::MadeModel model(tokens_of(.8, .8, .8), {"big small other"}, {.alignment = testing::MadeWeights::free});
  const auto record = measured("adversarial_weights(distributions=30)", model)[0];
  EXPECT_GT(record.at("jsd").get<double>(), 0.8 * jensen_shannon({.6, .2, .2}, {0, .8, .2}));
  EXPECT_NEAR(record.at("max_weight").get<double>(), 0.6, 1e-6);
}

TEST(AdversarialWeightsTest, OwnWeightsAreACandidate) {
  testing::MadeModel model(tokens_of(9, 1, 9), {"big small other"});
  const auto record = measured("adversarial_weights(steps=0, distributions=1, epsilon=0)", model)[0];
  EXPECT_EQ(record.at("jsd").get<double>(), 0);
  EXPECT_EQ(record.at("within").get<double>(), 0);
  EXPECT_EQ(record.at("adversarial"), record.at("weights"));
}

TEST(AdversarialWeightsTest, EpsilonIsAnOption) {
  testing::MadeModel model(tokens_of(3, 0, 3), {"big other"});
  EXPECT_GT(measured("adversarial_weights(epsilon=1)", model)[0].at("jsd").get<double>(), 0.05);
}

TEST(AdversarialWeightsTest, PositionsAreSearchedEach) {
  testing::MadeModel model(tokens_of(4, 4, 4), {"big small other", "other small big"},
                           {.positions = 2, .ends = {2, 1}});
  const auto records = measured("adversarial_weights(distributions=30)", model);
  const double root = std::sqrt(3.0), sum = root + 2;
  const double first = jensen_shannon({.6, .2, .2}, {0, .8, .2});
  const double second = jensen_shannon({root / sum, 1 / sum, 1 / sum}, {0, (root + 1) / sum, 1 / sum});
  EXPECT_NEAR(records[0].at("jsd").get<double>(), (first + second) / 2, 0.05);
  EXPECT_NEAR(records[1].at("jsd").get<double>(), first, 0.05);
}

TEST(AdversarialWeightsTest, BatchesChangeNothing) {
  testing::MadeModel model(tokens_of(4, 3, 2), {"big small other", "other big", "small big other big other"});
  const auto test = ExplanationTest::Parts::make("adversarial_weights(steps=50)");
  const auto together = measured(*test, model), alone = measured(*test, model, {0, 1, 2}, 1);
  for (size_t i = 0; i < alone.size(); ++i)
    for (const char* key : {"jsd", "tvd", "within"})
      EXPECT_NEAR(together[i].at(key).get<double>(), alone[i].at(key).get<double>(), 1e-3) << key;
}

TEST(AdversarialWeightsTest, DegenerateTextsHaveAReason) {
  const auto model = testing::degenerate_model({.padding = 1});
  const auto test = ExplanationTest::Parts::make("adversarial_weights(steps=20)");
  const auto records = measured(*test, *model);
  const std::vector<std::string> expected{"one_token", "no_tokens", "", "nan_weights", "no_weights", "", ""};
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(undefined_reason(records[i]), expected[i]);
    EXPECT_EQ(records[i].contains("jsd"), expected[i].empty());
    EXPECT_TRUE(testing::finite(records[i])) << records[i].dump();
  }
  const auto result = test->summarize(records, {.model = model.get(), .samples = 50, .examples = 1, .min_texts = 1});
  EXPECT_EQ(result.counts[0].second, 7);
  EXPECT_EQ(result.counts.size(), 5U);
  EXPECT_EQ(test->summarize({records[0]}, {.model = model.get()}).verdict, ExplanationVerdict::neither);
}

TEST(AdversarialWeightsTest, RefusesWhatIsNoSearch) {
  EXPECT_THROW(ExplanationTest::Parts::make("adversarial_weights(distributions=0)"), Error);
  EXPECT_THROW(ExplanationTest::Parts::make("adversarial_weights(steps=-1)"), Error);
  EXPECT_THROW(ExplanationTest::Parts::make("adversarial_weights(epsilon=-1)"), Error);
}

TEST(AdversarialWeightsTest, ASearchThatFindsNothingSpeaksForNothing) {
  testing::MadeModel model(tokens_of(3, 0, 3), {"big other"});
  const auto test = ExplanationTest::Parts::make("adversarial_weights");
  const auto verdict = [&](double within) {
    ExplanationRecord record = measured(*test, model)[0];
    record["jsd"] = 0.01;
    record["within"] = within;
    return test->summarize({record, record, record}, {.model = &model, .samples = 50, .min_texts = 1}).verdict;
  };
  EXPECT_EQ(verdict(1), ExplanationVerdict::speaks_for);
  EXPECT_EQ(verdict(0.4), ExplanationVerdict::neither);
}

}  // namespace
}  // namespace heed
