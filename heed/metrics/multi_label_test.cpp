#include "heed/metrics/multi_label.h"

#include <gtest/gtest.h>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

constexpr double kClose = 1e-15;  // scores up to 1, with a few rounding errors each

void expect(const PrecisionRecall& found, double precision, double recall, double f1, int64_t support) {
  EXPECT_NEAR(found.precision, precision, kClose);
  EXPECT_NEAR(found.recall, recall, kClose);
  EXPECT_NEAR(found.f1, f1, kClose);
  EXPECT_EQ(found.support, support);
}

const LabelRows kPredicted{{true, false, false}, {false, true, true}, {false, false, false}};
const LabelRows kGold{{true, true, false}, {true, false, true}, {false, false, false}};

TEST(MultiLabel, CountsExamplesAndLabels) {
  const auto found = multi_label_scores(kPredicted, kGold);
  EXPECT_NEAR(found.subset_accuracy, 1.0 / 3, kClose);     // the third
  EXPECT_NEAR(found.hamming_loss, (1 + 2) / 9.0, kClose);  // one wrong label in the first, two in the second
}

// gold 2 1 1, predicted 1 1 1, hits 1 0 1
TEST(MultiLabel, ScoresEachClass) {
  const auto found = multi_label_scores(kPredicted, kGold);
  ASSERT_EQ(found.classes.size(), 3U);
  expect(found.classes[0], 1, 1.0 / 2, 2.0 / 3, 2);
  expect(found.classes[1], 0, 0, 0, 1);
  expect(found.classes[2], 1, 1, 1, 1);
}

// weighted: (2 + 1) / 4, (2/2 + 1) / 4, (2 2/3 + 1) / 4
TEST(MultiLabel, AveragesOverClasses) {
  const auto found = multi_label_scores(kPredicted, kGold);
  expect(found.macro, 2.0 / 3, 1.5 / 3, 5.0 / 9, 4);
  expect(found.micro, 2.0 / 3, 2.0 / 4, 4.0 / 7, 4);
  expect(found.weighted, 3.0 / 4, 2.0 / 4, 7.0 / 12, 4);
}

// (1, 1/2, 2/3), (1/2, 1/2, 1/2), and 0 for the third, which has no labels
TEST(MultiLabel, AveragesOverSamples) {
  expect(multi_label_scores(kPredicted, kGold).samples, 1.5 / 3, 1.0 / 3, 7.0 / 18, 4);
}

// scikit-learn takes a column for single-label classification: not in the fixture. Gold 1 0, predicted 1 1.
TEST(MultiLabel, TakesASingleClass) {
  const auto found = multi_label_scores({{true}, {true}}, {{true}, {false}});
  expect(found.macro, 1.0 / 2, 1, 2.0 / 3, 1);
  EXPECT_NEAR(found.hamming_loss, 1.0 / 2, kClose);
}

TEST(MultiLabel, RefusesDifferentNumbersOfExamplesAndNone) {
  EXPECT_EQ(refusal([] {
              multi_label_scores({{true}}, {{true}, {false}});
            }),
            "metrics/multi_label: got 1 predicted and 2 gold values, expected equal numbers");
  EXPECT_EQ(refusal([] { multi_label_scores({}, {}); }), "metrics/multi_label: got no examples, expected at least 1");
}

TEST(MultiLabel, RefusesDifferentNumbersOfClassesAndNone) {
  EXPECT_EQ(refusal([] {
              multi_label_scores({{true, false}, {true}}, {{true, false}, {true, true}});
            }),
            "metrics/multi_label: got 1 predicted labels for example 1, expected 2");
  EXPECT_EQ(refusal([] {
              multi_label_scores({{true}, {true}}, {{true}, {true, true}});
            }),
            "metrics/multi_label: got 2 gold labels for example 1, expected 1");
  EXPECT_EQ(refusal([] { multi_label_scores({{}}, {{}}); }),
            "metrics/multi_label: got no classes, expected at least 1");
}

}  // namespace
}  // namespace heed
