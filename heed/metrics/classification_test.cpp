#include "heed/metrics/classification.h"

#include <cmath>

#include <gtest/gtest.h>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using Ids = std::vector<int64_t>;

constexpr double kClose = 1e-15;  // scores up to 1, with a few rounding errors each

ClassificationScores scores(const Ids& predicted, const Ids& gold, int64_t classes) {
  return classification_scores(confusion_matrix(predicted, gold, classes));
}

void expect(const PrecisionRecall& found, double precision, double recall, double f1, int64_t support) {
  EXPECT_NEAR(found.precision, precision, kClose);
  EXPECT_NEAR(found.recall, recall, kClose);
  EXPECT_NEAR(found.f1, f1, kClose);
  EXPECT_EQ(found.support, support);
}

const Ids kPredicted{0, 0, 1, 1, 1, 1}, kGold{0, 0, 0, 1, 1, 2};

TEST(ConfusionMatrix, HasARowForEachGoldClass) {
  const auto matrix = confusion_matrix(kPredicted, kGold, 3);
  EXPECT_EQ(matrix.counts, (std::vector<Ids>{{2, 1, 0}, {0, 2, 0}, {0, 1, 0}}));
  EXPECT_EQ(matrix.n, 6);
}

// gold 3 2 1, predicted 2 4 0, hits 2 2 0
TEST(Classification, ScoresEachClass) {
  const auto found = scores(kPredicted, kGold, 3);
  ASSERT_EQ(found.classes.size(), 3U);
  expect(found.classes[0], 1, 2.0 / 3, 4.0 / 5, 3);
  expect(found.classes[1], 1.0 / 2, 1, 4.0 / 6, 2);
  expect(found.classes[2], 0, 0, 0, 1);  // 0 / 0, 0 / 1, 0 / 1
}

// macro: F1 is (4/5 + 2/3) / 3, not 2 (1/2) (5/9) / (1/2 + 5/9)
// weighted: (3 + 2/2) / 6, (2 + 2) / 6, (3 4/5 + 2 2/3) / 6
TEST(Classification, AveragesOverClasses) {
  const auto found = scores(kPredicted, kGold, 3);
  expect(found.macro, 1.0 / 2, 5.0 / 9, 22.0 / 45, 6);
  expect(found.micro, 4.0 / 6, 4.0 / 6, 4.0 / 6, 6);
  expect(found.weighted, 4.0 / 6, 4.0 / 6, 28.0 / 45, 6);
  EXPECT_NEAR(found.accuracy, 4.0 / 6, kClose);
  EXPECT_NEAR(found.balanced_accuracy, 5.0 / 9, kClose);
}

// (6 4 - (2 3 + 4 2)) / sqrt((36 - 4 - 16) (36 - 9 - 4 - 1)) = 10 / sqrt(16 22)
TEST(Classification, HasTheCorrelationOfMatthews) {
  EXPECT_NEAR(scores(kPredicted, kGold, 3).matthews, 10 / std::sqrt(352), kClose);
  EXPECT_EQ(scores({0, 1, 1}, {0, 1, 1}, 2).matthews, 1);
  EXPECT_EQ(scores({1, 0}, {0, 1}, 2).matthews, -1);
}

TEST(Classification, HasNoCorrelationWhereAClassIsAlone) {
  EXPECT_EQ(scores({1, 1, 1}, {0, 1, 1}, 2).matthews, 0);
  EXPECT_EQ(scores({0, 1, 1}, {1, 1, 1}, 2).matthews, 0);
  EXPECT_EQ(scores({1, 1, 1}, {1, 1, 1}, 2).matthews, 0);
}

// recall 1/2 and 1; class 2 has none
TEST(Classification, BalancesOverTheClassesThatAreGold) {
  const auto found = scores({0, 1, 1}, {0, 0, 1}, 3);
  EXPECT_NEAR(found.balanced_accuracy, 1.5 / 2, kClose);
  EXPECT_NEAR(found.macro.recall, 1.5 / 3, kClose);
}

TEST(Classification, TakesMoreExamplesThanTheRootOfTheLargestInteger) {
  constexpr int64_t kMany = 4'000'000'000;  // (2 kMany)^2 = 6.4e19, 2^63 = 9.2e18
  EXPECT_NEAR(classification_scores({{{kMany, 0}, {0, kMany}}, 2 * kMany}).matthews, 1, kClose);
  EXPECT_EQ(classification_scores({{{kMany, 0}, {kMany, 0}}, 2 * kMany}).matthews, 0);
}

TEST(Classification, RefusesWhatIsNoClass) {
  EXPECT_EQ(refusal([] {
              confusion_matrix({0, 3}, {0, 1}, 3);
            }),
            "metrics/classification: got predicted class 3 for example 1, expected 0 to 2");
  EXPECT_EQ(refusal([] {
              confusion_matrix({0, 1}, {-1, 1}, 3);
            }),
            "metrics/classification: got gold class -1 for example 0, expected 0 to 2");
  EXPECT_EQ(refusal([] { confusion_matrix({0}, {0}, 0); }),
            "metrics/classification: got 0 classes, expected at least 1");
}

TEST(Classification, RefusesDifferentNumbersOfExamplesAndNone) {
  EXPECT_EQ(refusal([] {
              confusion_matrix({0, 1}, {0, 1, 1}, 2);
            }),
            "metrics/classification: got 2 predicted and 3 gold values, expected equal numbers");
  EXPECT_EQ(refusal([] { confusion_matrix({}, {}, 2); }),
            "metrics/classification: got no examples, expected at least 1");
}

TEST(Classification, RefusesAMatrixThatIsNone) {
  EXPECT_EQ(refusal([] {
              classification_scores({{{1, 0}, {0}}, 1});
            }),
            "metrics/classification: got a row of 1 counts for 2 classes, expected a square matrix");
  EXPECT_EQ(refusal([] {
              classification_scores({{{1, 0}, {0, 1}}, 3});
            }),
            "metrics/classification: got counts with the sum 2, expected n = 3");
  EXPECT_EQ(refusal([] { classification_scores({}); }), "metrics/classification: got no examples, expected at least 1");
}

}  // namespace
}  // namespace heed
