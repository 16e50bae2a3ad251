// Rank correlations by hand and golden numbers; against SciPy and NumPy in attention_fixtures_test.cpp.

#include "heed/metrics/rank_correlation.h"

#include <cmath>
#include <cstdint>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/base/shuffle.h"
#include "heed/metrics/regression.h"
#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using Values = std::vector<double>;
constexpr double kClose = 1e-14;  // sums of some ten products of ranks

TEST(AverageRanks, AreSharedByEqualValues) {
  EXPECT_EQ(average_ranks({5, 3, 5, 9}), (Values{2.5, 1, 2.5, 4}));
  EXPECT_EQ(average_ranks({}), Values{});
}

// 5 pairs in the same order, 1 in the opposite one: 4 / 6. The second is the example of SciPy's documents.
TEST(KendallTauB, IsThatOfTheGoldenNumbers) {
  EXPECT_NEAR(kendall_tau_b({0.1, 0.4, 0.2, 0.3}, {1, 4, 3, 2}).value(), 0.66666667, 5e-9);
  EXPECT_NEAR(kendall_tau_b({12, 2, 1, 12, 2}, {1, 4, 7, 1, 0}).value(), -0.47140452, 5e-9);
}

// Of the 24 orders of four values one has no pair in the opposite order, and three have one: twice 4 / 24.
TEST(KendallTest, CountsTheOrdersOfFewValues) {
  const auto found = kendall_test({0.1, 0.4, 0.2, 0.3}, {1, 4, 3, 2});
  EXPECT_NEAR(found->tau, 0.66666667, 5e-9);
  EXPECT_NEAR(found->p, 2 * 4.0 / 24, kClose);
  EXPECT_NEAR(kendall_test({1, 2, 3, 4, 5}, {5, 4, 3, 2, 1})->p, 2 / 120.0, kClose);
  EXPECT_EQ(kendall_test({1, 2, 3, 4}, {2, 4, 1, 3})->p, 1);  // 3 of 6 pairs
  EXPECT_EQ(kendall_test({1, 2}, {2, 1})->p, 1);
}

TEST(KendallTest, IsThatOfSciPy) {
  const auto fixture = nlohmann::json::parse(std::ifstream("heed/metrics/fixtures/rank_correlation.json"));
  EXPECT_GE(fixture.at("kendall").size(), 200U);
  for (const auto& one : fixture.at("kendall")) {
    SCOPED_TRACE(one.dump());
    const auto found = kendall_test(one["x"].get<Values>(), one["y"].get<Values>());
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->tau, one["tau"].get<double>(), 1e-13);
    const double p = one["p"].get<double>();
    EXPECT_NEAR(found->p, p, 1e-10 * p + 1e-300);
  }
}

TEST(KendallTest, IsUndefinedWithTau) {
  EXPECT_FALSE(kendall_test({1, 1}, {1, 2}).has_value());
  EXPECT_FALSE(kendall_test({}, {}).has_value());
}

TEST(KendallTauB, IsOneForTheSameOrderAndMinusOneForTheOpposite) {
  EXPECT_NEAR(kendall_tau_b({1, 2, 2, 5}, {3, 4, 4, 9}).value(), 1, kClose);
  EXPECT_NEAR(kendall_tau_b({1, 2, 3}, {9, 5, 0}).value(), -1, kClose);
}

TEST(KendallTauB, IsUndefinedForConstantOrSingleValues) {
  EXPECT_EQ(kendall_tau_b({1, 1}, {1, 2}), std::nullopt);
  EXPECT_EQ(kendall_tau_b({1, 2}, {4, 4}), std::nullopt);
  EXPECT_EQ(kendall_tau_b({1}, {4}), std::nullopt);
  EXPECT_EQ(kendall_tau_b({}, {}), std::nullopt);
}

// By its definition, over all pairs.
TEST(KendallTauB, CountsPairsOfManyValues) {
  SplitMix random(5);
  Values x, y;
  for (int i = 0; i < 300; ++i) {
    x.push_back(static_cast<double>(random.below(20)));
    y.push_back(static_cast<double>(random.below(50)));
  }
  int64_t difference = 0, untied_x = 0, untied_y = 0;
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const int of_x = (x[i] > x[j]) - (x[i] < x[j]), of_y = (y[i] > y[j]) - (y[i] < y[j]);
      difference += of_x * of_y;
      untied_x += std::abs(of_x);
      untied_y += std::abs(of_y);
    }
  EXPECT_NEAR(
      kendall_tau_b(x, y).value(),
      static_cast<double>(difference) / std::sqrt(static_cast<double>(untied_x) * static_cast<double>(untied_y)),
      kClose);
}

TEST(PartialSpearman, WithoutControlsIsSpearman) {
  const Values x{0.3, 0.1, 0.4, 0.1, 0.5}, y{2, 7, 1, 8, 2};
  EXPECT_NEAR(partial_spearman(x, y, {}).value(), spearman(x, y), kClose);
  EXPECT_NEAR(partial_spearman(x, y, {{1, 1, 1, 1, 1}}).value(), spearman(x, y), kClose);  // controls nothing
}

// With r = Spearman of two: (r_xy - r_xz r_yz) / sqrt((1 - r_xz^2) (1 - r_yz^2)).
TEST(PartialSpearman, IsTheFirstOrderFormulaForOneControl) {
  const Values x{1, 3, 2, 5, 4, 6}, y{2, 1, 4, 3, 6, 5}, z{1, 2, 3, 4, 6, 5};
  const double xy = spearman(x, y), xz = spearman(x, z), yz = spearman(y, z);
  EXPECT_NEAR(partial_spearman(x, y, {z}).value(), (xy - xz * yz) / std::sqrt((1 - xz * xz) * (1 - yz * yz)), kClose);
}

TEST(PartialSpearman, LeavesOutAControlThatFollowsFromTheOthers) {
  const Values x{1, 3, 2, 5, 4, 6}, y{2, 1, 4, 3, 6, 5}, z{1, 2, 3, 4, 6, 5};
  EXPECT_NEAR(partial_spearman(x, y, {z, z}).value(), partial_spearman(x, y, {z}).value(), kClose);
}

TEST(PartialSpearman, IsUndefinedWhereControlsExplainAllOrTooFewValuesAreLeft) {
  const Values x{1, 3, 2, 5}, y{2, 1, 4, 3};
  EXPECT_EQ(partial_spearman(x, y, {x}), std::nullopt);
  EXPECT_EQ(partial_spearman(x, y, {y}), std::nullopt);
  EXPECT_EQ(partial_spearman({1, 1, 1, 1}, y, {x}), std::nullopt);
  EXPECT_EQ(partial_spearman(x, y, {{1, 2, 3, 4}, {1, 2, 2, 1}}), std::nullopt);  // 4 values, 2 controls
  EXPECT_EQ(partial_spearman({1}, {2}, {}), std::nullopt);
  EXPECT_EQ(partial_spearman({}, {}, {}), std::nullopt);
}

TEST(RankCorrelation, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal([] {
              kendall_tau_b({1, 2}, {1});
            }),
            "metrics/rank_correlation: got 2 and 1 values, expected equal numbers");
  EXPECT_EQ(refusal([] {
              partial_spearman({1, 2}, {1, std::nan("")}, {});
            }),
            "metrics/rank_correlation: got the value nan at 1, expected finite values");
}

}  // namespace
}  // namespace heed
