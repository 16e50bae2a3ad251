// By hand, and against a second implementation over all cases of the paper (fixtures/rank_correlation_scores.py).

#include "heed/metrics/top_k_distance.h"

#include <algorithm>
#include <fstream>
#include <numeric>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using Values = std::vector<double>;

// Lists a b and c d of four items: four pairs across, and one pair of each list alone.
TEST(TopKDistance, OfListsWithoutACommonItem) {
  EXPECT_EQ(top_k_cost({4, 3, 2, 1}, {1, 2, 3, 4}, 2), 4 + 2 * .5);
  EXPECT_EQ(top_k_cost({4, 3, 2, 1}, {1, 2, 3, 4}, 2, 0), 4);
  EXPECT_EQ(top_k_distance({4, 3, 2, 1}, {1, 2, 3, 4}, 2), 1);
}

// Lists a b and b c: b before a in the second (1), a and c alone in one list each (1), b before c in both.
TEST(TopKDistance, OfListsWithACommonItem) {
  EXPECT_EQ(top_k_cost({4, 3, 2, 1}, {1, 4, 3, 2}, 2), 2);
}

TEST(TopKDistance, OfWholeListsCountsPairsInOppositeOrders) {
  EXPECT_EQ(top_k_cost({3, 2, 1}, {3, 2, 1}, 10), 0);
  EXPECT_EQ(top_k_cost({3, 2, 1}, {1, 2, 3}, 10), 3);
  EXPECT_EQ(top_k_distance({3, 2, 1}, {1, 2, 3}, 3), 1);
  EXPECT_NEAR(top_k_distance({3, 2, 1}, {2, 3, 1}, 3).value(), 1.0 / 3, 1e-15);
}

TEST(TopKDistance, OfTiesIsThePenalty) {
  EXPECT_EQ(top_k_cost({1, 1, 0}, {2, 1, 0}, 3), .5);
  EXPECT_EQ(top_k_cost({1, 1, 1}, {2, 2, 2}, 3), 0);
}

TEST(TopKDistance, IsUndefinedOfOneItem) {
  EXPECT_EQ(top_k_distance({1}, {2}, 1), std::nullopt);
  EXPECT_EQ(top_k_distance({}, {}, 1), std::nullopt);
}

TEST(TopKDistance, IsOneAtMost) {
  Values y{0, 1, 2, 3, 4};
  const Values x{4, 3, 2, 1, 0};
  for (int64_t k = 1; k <= 6; ++k) {
    double largest = 0;
    std::sort(y.begin(), y.end());
    do {
      largest = std::max(largest, top_k_distance(x, y, k).value());
    } while (std::next_permutation(y.begin(), y.end()));
    EXPECT_NEAR(largest, 1, 1e-15) << k;
  }
}

TEST(TopKDistance, IsThatOfTheCasesOfThePaper) {
  const auto fixture = nlohmann::json::parse(std::ifstream("heed/metrics/fixtures/rank_correlation.json"));
  EXPECT_GE(fixture.at("top_k").size(), 60U);
  for (const auto& one : fixture.at("top_k")) {
    SCOPED_TRACE(one.dump());
    EXPECT_NEAR(top_k_cost(one["x"].get<Values>(), one["y"].get<Values>(), one["k"].get<int64_t>()),
                one["cost"].get<double>(), 1e-12);
  }
}

TEST(TopKDistance, RefusesWhatHasNoOrder) {
  EXPECT_EQ(refusal([] {
              top_k_cost({1}, {1, 2}, 1);
            }),
            "metrics/top_k_distance: got 1 and 2 values, expected equal numbers");
  EXPECT_EQ(refusal([] { top_k_cost({1}, {1}, 0); }), "metrics/top_k_distance: got k = 0, expected at least 1");
}

}  // namespace
}  // namespace heed
