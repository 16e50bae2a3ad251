// How well weights find a rationale: by hand here, against scikit-learn in attention_fixtures_test.cpp.

#include "heed/metrics/attention_relevance.h"

#include <cmath>

#include <gtest/gtest.h>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using Bits = std::vector<bool>;
using Values = std::vector<double>;
constexpr double kClose = 1e-15;

const Values kWeights{0.1, 0.5, 0.1, 0.3};

// Words 1 (right), 3 (wrong), then 0 and 2 together (one right): recall 1/2 at precision 1, 1/2 at 2/4.
TEST(AveragePrecision, FindsTiedWordsTogether) {
  EXPECT_NEAR(average_precision(kWeights, {true, true, false, false}).value(), 0.5 + 0.25, kClose);
  EXPECT_EQ(average_precision(kWeights, {false, true, false, true}), 1);
  EXPECT_EQ(average_precision({2, 2, 2, 2}, {false, true, false, false}), 0.25);  // the share of the rationale
}

// The pairs (0,2) tied, (0,3) lost, (1,2) won, (1,3) won: 2.5 of 4.
TEST(RocAuc, CountsTiedPairsByHalf) {
  EXPECT_EQ(roc_auc(kWeights, {true, true, false, false}), 2.5 / 4);
  EXPECT_EQ(roc_auc({2, 2, 2}, {true, false, true}), 0.5);
  EXPECT_EQ(roc_auc({1, 2, 3}, {true, false, false}), 0);
}

TEST(TopMembership, SharesTheLastRankAmongTiedWords) {
  EXPECT_EQ(top_membership(kWeights, 3), (Values{0.5, 1, 0.5, 1}));
  EXPECT_EQ(top_membership(kWeights, 2), (Values{0, 1, 0, 1}));
  EXPECT_EQ(top_membership(kWeights, 9), (Values{1, 1, 1, 1}));
  EXPECT_EQ(top_membership(kWeights, 0), (Values{0, 0, 0, 0}));
  EXPECT_TRUE(tied_at(kWeights, 3));
  EXPECT_FALSE(tied_at(kWeights, 2));
  EXPECT_FALSE(tied_at({1, 1}, 2));
}

TEST(PrecisionAt, IsTheShareOfTheRationaleAmongTheFirst) {
  EXPECT_EQ(precision_at(kWeights, {false, true, true, false}, 2), 0.5);
  EXPECT_NEAR(precision_at(kWeights, {false, true, true, false}, 3).value(), 1.5 / 3, kClose);
  EXPECT_EQ(precision_at(kWeights, {true, false, false, false}, 9), 0.25);  // four words are all there are
}

// Word 1 alone is above 0.3: 2 * 1 / (1 + 2). Words 1 and 3 are the first two: 2 * 1 / (2 + 2).
TEST(TokenF1, IsOfTheWordsThatAreFound) {
  const Bits gold{true, true, false, false};
  EXPECT_NEAR(token_f1_above(kWeights, gold, 0.3).value(), 2. / 3, kClose);
  EXPECT_NEAR(token_f1_of_top(kWeights, gold, 2).value(), 0.5, kClose);
  EXPECT_EQ(token_f1_above(kWeights, gold, 1), 0);
  EXPECT_EQ(token_f1_of_top(kWeights, gold, 0), 0);
}

TEST(Relevance, IsUndefinedWithoutARationale) {
  const Bits none{false, false, false, false}, all{true, true, true, true};
  EXPECT_EQ(average_precision(kWeights, none), std::nullopt);
  EXPECT_EQ(roc_auc(kWeights, none), std::nullopt);
  EXPECT_EQ(precision_at(kWeights, none, 1), std::nullopt);
  EXPECT_EQ(token_f1_of_top(kWeights, none, 1), std::nullopt);
  EXPECT_EQ(token_f1_above(kWeights, none, 0.1), std::nullopt);
  EXPECT_EQ(average_precision({}, {}), std::nullopt);
  EXPECT_EQ(roc_auc(kWeights, all), std::nullopt);  // one class
  EXPECT_EQ(average_precision(kWeights, all), 1);
  EXPECT_EQ(average_precision({7}, {true}), 1);
}

TEST(Relevance, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal([] {
              roc_auc({1, 2}, {true});
            }),
            "metrics/attention_relevance: got 2 weights and 1 gold values, expected equal numbers");
  EXPECT_EQ(refusal([] {
              average_precision({1, std::nan("")}, {true, false});
            }),
            "metrics/attention_relevance: got NaN as the weight of word 1, expected a number");
  EXPECT_EQ(refusal([] { precision_at({1}, {true}, 0); }),
            "metrics/attention_relevance: got k = 0, expected at least 1");
}

}  // namespace
}  // namespace heed
