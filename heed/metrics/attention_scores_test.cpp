// Figures over a set: means over cases, what is left out and counted, and intervals over items.

#include "heed/metrics/attention_scores.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

constexpr double kClose = 1e-14;

std::optional<double> score(const NamedScores& scores, const std::string& name) {
  const auto found = std::find_if(scores.begin(), scores.end(), [&](const auto& one) { return one.first == name; });
  return found == scores.end() ? std::nullopt : found->second;
}

MeanFigure figure(const std::vector<MeanFigure>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const MeanFigure& one) { return one.name == name; });
  return found == all.end() ? MeanFigure{} : *found;
}

/// A rationale, as weights and as relevant words.
AttentionCase rationale(std::vector<double> weights, const std::vector<bool>& relevant) {
  return {.weights = std::move(weights), .gold = {relevant.begin(), relevant.end()}, .relevant = relevant};
}

// The mean weight is 1/4, above it are words 1 (right) and 3: F1 = 2 / 4. A share of 0.3 of four words is one word.
TEST(AttentionScores, OfARationaleAreAllFigures) {
  const auto scores = attention_scores(rationale({0.1, 0.5, 0.1, 0.3}, {true, true, false, false}), {.top_share = 0.3});
  EXPECT_NEAR(score(scores, "correctness").value(), 0.6, kClose);
  EXPECT_NEAR(score(scores, "average_precision").value(), 0.75, kClose);
  EXPECT_NEAR(score(scores, "roc_auc").value(), 0.625, kClose);
  EXPECT_NEAR(score(scores, "precision_at_k").value(), 0.5, kClose);
  EXPECT_NEAR(score(scores, "f1_above_mean").value(), 0.5, kClose);
  EXPECT_NEAR(score(scores, "f1_of_top").value(), 2. / 3, kClose);
  EXPECT_TRUE(score(scores, "kendall").has_value());
  EXPECT_TRUE(score(scores, "entropy").has_value());
  EXPECT_EQ(score(scores, "partial_spearman"), std::nullopt);  // there are no controls
}

TEST(AttentionScores, OfGradedGoldAreCorrelationsAlone) {
  const auto scores = attention_scores({.weights = {1, 2, 3, 5}, .gold = {10, 20, 30, 40}, .controls = {{1, 3, 2, 4}}},
                                       {.spread = false});
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_NEAR(score(scores, "spearman").value(), 1, kClose);
  EXPECT_NEAR(score(scores, "kendall").value(), 1, kClose);
  EXPECT_NEAR(score(scores, "partial_spearman").value(), 1, kClose);
}

TEST(AttentionScores, FindNoWordAboveTheMeanOfEqualWeights) {
  for (const size_t words : {3U, 7U, 49U}) {
    std::vector<bool> relevant(words, false);
    relevant[0] = true;
    EXPECT_EQ(score(attention_scores(rationale(std::vector<double>(words, 1.0 / static_cast<double>(words)), relevant)),
                    "f1_above_mean"),
              0);
  }
}

// Items of 1 and of 3 cases: the mean is over cases, (1 + 0 + 0 + 0) / 4.
TEST(MeanFigures, AreMeansOverCases) {
  MeanFigures figures;
  figures.add({{"x", 1.0}}, 0);
  for (int i = 0; i < 3; ++i) figures.add({{"x", 0.0}}, 1);
  const MeanFigure mean = figures.all().front();
  EXPECT_EQ(mean.mean, 0.25);
  EXPECT_EQ(mean.low, 0);
  EXPECT_EQ(mean.high, 1);
  EXPECT_EQ(mean.defined, 4);
}

TEST(MeanFigures, LeaveOutAndCountWhatIsUndefined) {
  MeanFigures figures;
  figures.add({{"x", 0.5}, {"y", std::nullopt}}, 0);
  figures.add({{"x", std::nullopt}, {"y", std::nullopt}}, 1);
  const auto all = figures.all();
  EXPECT_EQ(all[0].mean, 0.5);
  EXPECT_EQ(all[0].undefined, 1);
  EXPECT_EQ(all[1].mean, std::nullopt);
  EXPECT_EQ(all[1].low, std::nullopt);
  EXPECT_EQ(all[1].undefined, 2);
  EXPECT_TRUE(MeanFigures().all().empty());
}

TEST(MeanFigures, HaveTheSameIntervalForTheSameSeed) {
  MeanFigures figures;
  for (size_t i = 0; i < 40; ++i) figures.add({{"x", static_cast<double>(i % 7)}}, i);
  const auto first = figures.all({.seed = 3}).front(), again = figures.all({.seed = 3}).front(),
             other = figures.all({.seed = 4}).front();
  EXPECT_EQ(first.low, again.low);
  EXPECT_NE(first.low, other.low);
  EXPECT_LT(*first.low, *first.mean);
  EXPECT_GT(*first.high, *first.mean);
}

TEST(MeanFigures, RefuseCasesWithOtherFigures) {
  MeanFigures figures;
  figures.add({{"x", 1.0}}, 0);
  EXPECT_EQ(refusal([&] {
              figures.add({{"y", 1.0}}, 1);
            }),
            "metrics/attention_scores: got the figure y of a case, expected x");
}

// One word, all masked, constant weights, an empty and a full rationale, ties at k: every figure is a number or
// nothing.
TEST(AttentionTally, CountsDegenerateCasesAndHasNoNaN) {
  AttentionTally tally({.top_share = 0.2});
  tally.add(rationale({1}, {true}), 0);
  tally.add(rationale({0, 0, 0}, {true, false, false}), 1);
  tally.add(rationale({0.5, 0.5}, {true, false}), 2);
  tally.add(rationale({0.3, 0.7}, {false, false}), 3);
  tally.add(rationale({0.3, 0.7}, {true, true}), 4);
  tally.add(rationale({0.4, 0.2, 0.4}, {true, false, false}), 5);
  const DegenerateCases& found = tally.degenerate();
  EXPECT_EQ(found.one_key, 1);
  EXPECT_EQ(found.no_weight, 1);
  EXPECT_EQ(found.constant_weights, 1);
  EXPECT_EQ(found.nothing_relevant, 1);
  EXPECT_EQ(found.all_relevant, 2);   // also the only word
  EXPECT_EQ(found.constant_gold, 2);  // empty and full
  EXPECT_EQ(found.tied_at_k, 1);
  for (const auto& one : tally.figures()) {
    EXPECT_EQ(one.defined + one.undefined, 6) << one.name;
    if (one.mean) {
      EXPECT_TRUE(std::isfinite(*one.mean) && std::isfinite(*one.low) && std::isfinite(*one.high)) << one.name;
    }
  }
  EXPECT_EQ(figure(tally.figures(), "average_precision").undefined, 1);  // the empty rationale
  EXPECT_EQ(figure(tally.figures(), "roc_auc").undefined, 3);            // and those with one class
  EXPECT_EQ(figure(tally.figures(), "correctness").undefined, 2);        // empty, and all masked
  EXPECT_EQ(figure(tally.figures(), "spearman").undefined, 5);           // of constant weights or gold
}

// The second item has no figure of the other map; the differences of the others are 0.5 and 0.1.
TEST(MeanFigures, DifferOnTheItemsThatBothHave) {
  MeanFigures ours, theirs;
  const std::vector<std::optional<double>> of_ours{0.9, 0.9, 0.5}, of_theirs{0.4, std::nullopt, 0.4};
  for (size_t item = 0; item < 3; ++item) {
    ours.add({{"kendall", 0.0}, {"spearman", of_ours[item]}}, item);
    theirs.add({{"kendall", std::nullopt}, {"spearman", of_theirs[item]}}, item);
  }
  const auto found = ours.difference_to(theirs, "spearman").value();
  EXPECT_NEAR(found.difference, 0.3, kClose);
  EXPECT_EQ(found.items, 2);
  EXPECT_NEAR(found.low, 0.1, kClose);
  EXPECT_NEAR(found.high, 0.5, kClose);
  EXPECT_FALSE(ours.difference_to(theirs, "kendall").has_value());
  EXPECT_FALSE(ours.difference_to(theirs, "roc_auc").has_value());
}

}  // namespace
}  // namespace heed
