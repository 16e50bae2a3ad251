#include "heed/metrics/significance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "heed/metrics/regression.h"
#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Resampled means(const std::vector<std::vector<double>>& systems) {
  std::vector<Statistics> all;
  for (const auto& values : systems) all.push_back(mean_statistics(values));
  return resampled(all);
}

/// 0, 1, ..., n - 1, each plus `more`.
std::vector<double> counting(int n, double more = 0) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(i + more);
  return values;
}

TEST(Resampled, ScoresOutputsOfAnySystem) {
  const auto outputs = means({{1, 2, 3}, {10, 20, 60}});
  EXPECT_EQ(scores_of(outputs), (std::vector<double>{2, 30}));
  EXPECT_EQ(outputs.score(std::vector<size_t>{0, 4, 4}), 41.0 / 3);  // 1 of the first, 20 twice of the second
}

TEST(Resampled, LeavesUndefinedValuesOutOfTheMean) {
  EXPECT_EQ(scores_of(means({{1, kNaN, 3}}))[0], 2);
  EXPECT_TRUE(std::isnan(scores_of(means({{kNaN, kNaN}}))[0]));
}

TEST(Resampled, LeavesAnItemThatOneSystemLacksOutOfAll) {
  std::vector<std::vector<double>> values{{1, kNaN, 3, 8}, {2, 5, kNaN, 9}};
  EXPECT_EQ(leave_out_of_all(values), 2U);
  EXPECT_EQ(scores_of(means(values)), (std::vector<double>{4.5, 5.5}));  // not 4 and 16 / 3
  EXPECT_EQ(paired_bootstrap(means(values)).at(0).difference, 1);
  std::vector<std::vector<double>> unequal{{1}, {1, 2}};
  EXPECT_NE(refusal([&] { leave_out_of_all(unequal); }).find("got systems of 1 and of 2 items"), std::string::npos);
}

TEST(Resampled, ComputesAgainWhatIsNoSum) {
  const auto outputs = rescored<double, double>({{1, 2, 3, 4}, {4, 3, 2, 1}}, {2, 3, 5, 9}, spearman);
  EXPECT_EQ(scores_of(outputs), (std::vector<double>{1, -1}));
  EXPECT_TRUE(std::isnan(outputs.score(std::vector<size_t>{0, 0, 0, 0})));
}

TEST(Resampled, RefusesSystemsThatDoNotMatch) {
  EXPECT_NE(refusal([] { means({{1, 2}, {1}}); }).find("got systems of 2 and of 1 items"), std::string::npos);
  EXPECT_NE(refusal([] { means({}); }).find("got no systems"), std::string::npos);
  EXPECT_NE(refusal([] { means({{}}); }).find("got no items"), std::string::npos);
  EXPECT_NE(refusal([] {
              rescored<double, double>({{1}}, {1, 2}, spearman);
            }).find("got 1 values of a system for 2"),
            std::string::npos);
}

// The mean of n values has the standard error s / sqrt(n), s^2 = (n^2 - 1) / 12 for 0 ... n - 1.
TEST(Bootstrap, HasTheIntervalOfAMean) {
  const int n = 400;
  const auto interval = bootstrap_intervals(means({counting(n)}), {.samples = 4000}).at(0);
  const double error = std::sqrt((n * n - 1) / 12.0 / n);
  EXPECT_NEAR(interval.mean, (n - 1) / 2.0, 4 * error / std::sqrt(4000));
  EXPECT_NEAR(interval.low, (n - 1) / 2.0 - 1.96 * error, .15 * error);
  EXPECT_NEAR(interval.high, (n - 1) / 2.0 + 1.96 * error, .15 * error);
  const auto narrow = bootstrap_intervals(means({counting(n)}), {.samples = 4000, .confidence = .5}).at(0);
  EXPECT_NEAR(narrow.high - narrow.low, 2 * .6745 * error, .15 * error);
}

TEST(Bootstrap, DependsOnTheSeedAlone) {
  const auto outputs = means({counting(50)});
  EXPECT_EQ(bootstrap_scores(outputs, {.samples = 20, .seed = 7}),
            bootstrap_scores(outputs, {.samples = 20, .seed = 7}));
  EXPECT_NE(bootstrap_scores(outputs, {.samples = 20, .seed = 7}),
            bootstrap_scores(outputs, {.samples = 20, .seed = 8}));
  const auto more = bootstrap_scores(outputs, {.samples = 30, .seed = 7})[0];
  const auto fewer = bootstrap_scores(outputs, {.samples = 20, .seed = 7})[0];
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), more.begin()));
}

TEST(Bootstrap, DrawsEveryItemEquallyOften) {
  const size_t items = 10;
  std::vector<double> drawn(items);
  const Resampled outputs{1, items, [&](std::span<const size_t> some) {
                            for (const size_t output : some) ++drawn[output];
                            return 0.0;
                          }};
  bootstrap_scores(outputs, {.samples = 4000});
  for (const double count : drawn) EXPECT_NEAR(count, 4000, 5 * std::sqrt(4000 * .9));
}

TEST(Interval, LeavesOutAFortiethOnEachSide) {
  const auto of = [](int n) { return confidence_interval(counting(n)); };
  EXPECT_EQ(of(1000).low, 25);
  EXPECT_EQ(of(1000).high, 974);
  EXPECT_EQ(of(39).low, 0);
  EXPECT_EQ(of(39).high, 38);
  EXPECT_EQ(of(40).low, 1);
  EXPECT_EQ(of(1).low, of(1).high);
  EXPECT_EQ(confidence_interval(counting(100), .8).low, 10);
}

TEST(Interval, CountsSamplesWithoutAScore) {
  const auto some = confidence_interval({1, kNaN, 3});
  EXPECT_EQ(some.mean, 2);
  EXPECT_EQ(some.undefined, 1);
  const auto none = confidence_interval({kNaN});
  EXPECT_TRUE(std::isnan(none.mean) && std::isnan(none.low) && std::isnan(none.high));
  EXPECT_EQ(none.undefined, 1);
}

TEST(PairedTests, DoNotTellASystemFromItself) {
  const auto same = means({counting(30), counting(30)});
  EXPECT_EQ(paired_bootstrap(same).at(0).p, 1);
  EXPECT_EQ(paired_randomization(same).at(0).p, 1);
  EXPECT_EQ(paired_bootstrap(same).at(0).difference, 0);
  EXPECT_EQ(paired_randomization(same, {.samples = 999, .like_sacrebleu = true}).at(0).p, .001);  // as sacreBLEU has it
}

TEST(PairedTests, FindADifferenceOfEveryItem) {
  const auto better = means({counting(30), counting(30, .5)});
  const auto bootstrap = paired_bootstrap(better, {.samples = 999}).at(0);
  EXPECT_EQ(bootstrap.p, .001);
  EXPECT_EQ(bootstrap.difference, .5);
  EXPECT_NEAR(bootstrap.interval->low, .5, 1e-12);
  EXPECT_NEAR(bootstrap.interval->high, .5, 1e-12);
  EXPECT_EQ(paired_randomization(better, {.samples = 999}).at(0).p, .001);
}

// 5 items that differ by 1: 2 of the 32 assignments give a difference as large.
TEST(PairedRandomization, HasThePOfAllAssignments) {
  const auto found = paired_randomization(means({{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}}), {.samples = 20'000}).at(0);
  EXPECT_NEAR(found.p, 2.0 / 32, 5 * std::sqrt(.0625 * .9375 / 20'000));
  EXPECT_FALSE(found.interval);
  EXPECT_EQ(
      paired_randomization(means({{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}}), {.samples = 99, .like_sacrebleu = true}).at(0).p,
      .01);
}

// Of 4 items two differ, in opposite directions: |d| is 0, and every assignment has as much.
TEST(PairedRandomization, CountsTies) {
  EXPECT_EQ(paired_randomization(means({{0, 1, 5, 5}, {1, 0, 5, 5}})).at(0).p, 1);
}

TEST(PairedTests, LeaveOutSamplesWithoutAScore) {
  const std::vector<double> gold{1, 2, 3};
  const auto outputs = rescored<double, double>({{1, 2, 3}, {3, 2, 1}}, gold, pearson);
  const auto found = paired_bootstrap(outputs, {.samples = 500}).at(0);
  EXPECT_NEAR(static_cast<double>(found.undefined), 500 / 9.0, 40);  // 3 of 27 samples hold one item three times
  EXPECT_EQ(found.difference, -2);
  const auto undefined = rescored<double, double>({{1, 2, 3}, {3, 3, 3}}, gold, pearson);
  EXPECT_TRUE(std::isnan(paired_bootstrap(undefined).at(0).p));
  EXPECT_TRUE(std::isnan(paired_randomization(undefined).at(0).p_holm));
}

/// How many of 400 pairs of equal systems on 100 items a test tells apart by p < .05.
int found_by_chance(std::vector<Comparison> (*test)(const Resampled&, const ResamplingOptions&), bool like_sacrebleu) {
  std::mt19937 random(1);
  int found = 0;
  for (int pair = 0; pair < 400; ++pair) {
    std::vector<std::vector<double>> systems(2, std::vector<double>(100));
    for (auto& system : systems)
      for (auto& value : system) value = static_cast<double>(random());
    found += test(means(systems), {.samples = 499, .like_sacrebleu = like_sacrebleu}).at(0).p < .05 ? 1 : 0;
  }
  return found;
}

// 5 % of 400 are 20, with a deviation of 4.4.
TEST(PairedTests, FindADifferenceOfEqualSystemsInOneOfTwenty) {
  for (const int found : {found_by_chance(paired_bootstrap, false), found_by_chance(paired_randomization, false)}) {
    EXPECT_LE(found, 32);
    EXPECT_GE(found, 8);
  }
  EXPECT_GE(found_by_chance(paired_bootstrap, true), 40);  // sacreBLEU's is one-sided: 10 % or more
}

TEST(PairedBootstrap, HasTheSamePInBothDirections) {
  const std::vector<double> low{1, 5, 2, 8, 3, 1, 7, 2}, high{2, 5, 4, 7, 6, 3, 7, 1};
  const double p = paired_bootstrap(means({low, high})).at(0).p;
  EXPECT_EQ(paired_bootstrap(means({high, low})).at(0).p, p);
  EXPECT_GT(p, .05);
  EXPECT_LT(p, .5);
}

TEST(PairedTests, CorrectForTheNumberOfComparisons) {
  const auto three = means({counting(30), counting(30, .5), counting(30)});
  const auto found = paired_bootstrap(three, {.samples = 999});
  EXPECT_EQ(found.at(0).p_holm, .002);
  EXPECT_EQ(found.at(1).p_holm, 1);
}

TEST(PairedTests, RefuseASingleSystem) {
  EXPECT_EQ(refusal([] {
              paired_bootstrap(means({{1, 2}}));
            }),
            "metrics/significance: got 1 systems, expected at least 2");
  EXPECT_NE(refusal([] {
              paired_randomization(means({{1}, {2}}), {.samples = 0});
            }).find("got 0 samples"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              paired_bootstrap(means({{1}, {2}}), {.confidence = 1});
            }).find("got a confidence of 1"),
            std::string::npos);
}

TEST(Holm, MultipliesTheSmallestByTheNumberOfComparisons) {
  const auto found = holm({.01, .04, .03, .005});
  const std::vector<double> expected{.03, .06, .06, .02};  // 3 .01, 1 .04 raised to 2 .03, 2 .03, 4 .005
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(found[i], expected[i]);
  EXPECT_EQ(holm({.4, .6}), (std::vector<double>{.8, .8}));
  EXPECT_EQ(holm({.9}), (std::vector<double>{.9}));
  EXPECT_EQ(holm({1, 1, 1}), (std::vector<double>{1, 1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

TEST(Holm, DoesNotCountWhatIsUndefined) {
  const auto found = holm({.01, kNaN, .02});
  EXPECT_EQ(found[0], .02);
  EXPECT_TRUE(std::isnan(found[1]));
  EXPECT_EQ(found[2], .02);
  EXPECT_NE(refusal([] { holm({1.5}); }).find("got p = 1.5"), std::string::npos);
}

}  // namespace
}  // namespace heed
