// Scores of rankings computed by hand, and against scikit-learn on random and degenerate rankings.
// fixtures/ranking_scores.py writes fixtures/ranking.json.

#include "heed/metrics/ranking.h"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using Items = std::vector<std::string>;

constexpr double kClose = 1e-12;  // sums of a few terms

TEST(Ranking, HitsIfARelevantItemIsAmongTheFirst) {
  const Items ranking{"a", "b", "c", "d"};
  EXPECT_EQ(query_scores(ranking, {"c"}, 2).hit, 0);
  EXPECT_EQ(query_scores(ranking, {"c"}, 3).hit, 1);
  EXPECT_EQ(query_scores(ranking, {"c", "d"}, 4).hit, 1);  // once, however many
  EXPECT_EQ(query_scores(ranking, {"x"}, 4).hit, 0);
}

// Relevant at ranks 2 and 4 of b and d, x is not ranked. k = 3: (1 / log2 3) / (1 + 1 / log2 3 + 1 / 2).
TEST(Ranking, DiscountsGainsByTheLogarithmOfTheRank) {
  const double third = 1 / std::log2(3.0);
  const Items ranking{"a", "b", "c", "d"};
  EXPECT_NEAR(query_scores(ranking, {"b", "d", "x"}, 3).ndcg, third / (1.5 + third), kClose);
  EXPECT_NEAR(query_scores(ranking, {"b", "d"}, 4).ndcg, (third + 1 / std::log2(5.0)) / (1 + third), kClose);
  EXPECT_EQ(query_scores(ranking, {"b", "a"}, 2).ndcg, 1);  // in any order
  EXPECT_EQ(query_scores(ranking, {"a", "b", "c"}, 1).ndcg, 1);
  EXPECT_EQ(query_scores(ranking, {"d"}, 3).ndcg, 0);
}

TEST(Ranking, TakesTheReciprocalRankOfTheFirstRelevantItemBeyondKToo) {
  const QueryScores found = query_scores({"a", "b", "c", "d"}, {"d", "c"}, 1);
  EXPECT_EQ(found.first_hit, 3);
  EXPECT_NEAR(found.reciprocal_rank, 1. / 3, kClose);
  EXPECT_EQ(query_scores({"a"}, {"b"}, 1).reciprocal_rank, 0);
}

// u: rank 1; v: rank 2; w: not ranked; x: no relevant item. HR@1 1 / 3, NDCG@1 1 / 3, MRR (1 + 1/2 + 0) / 3.
TEST(Ranking, AveragesOverQueriesWithARelevantItem) {
  const RankingScores found = ranking_scores({{"u", {"a", "b"}}, {"v", {"a", "b"}}, {"x", {"a"}}},
                                             {{"u", {"a"}}, {"v", {"b", "b"}}, {"w", {"a"}}}, 1);
  EXPECT_NEAR(found.hit_rate, 1. / 3, kClose);
  EXPECT_NEAR(found.ndcg, 1. / 3, kClose);
  EXPECT_NEAR(found.mrr, 0.5, kClose);
  EXPECT_EQ(found.without_relevant, 1);
  EXPECT_EQ(found.without_ranking, 1);
  ASSERT_EQ(found.queries.size(), 3U);
  EXPECT_EQ(found.queries[1].query, "v");
  EXPECT_EQ(found.queries[1].first_hit, 2);
}

TEST(Ranking, OfQueriesWithoutRelevantItemsIsZeroAndCounted) {
  const RankingScores found = ranking_scores({{"u", {"a"}}, {"v", {}}}, {{"v", {}}, {"w", {}}}, 5);
  EXPECT_EQ(found.without_relevant, 3);
  EXPECT_EQ(found.queries.size(), 0U);
  EXPECT_EQ(found.hit_rate + found.ndcg + found.mrr, 0);
}

TEST(Ranking, RefusesRepeatedItemsAndAnEmptySet) {
  EXPECT_EQ(refusal([] {
              query_scores({"a", "b", "a"}, {"a"}, 1);
            }),
            "metrics/ranking: got the item \"a\" again at rank 3, expected each item once");
  EXPECT_EQ(refusal([] { query_scores({"a"}, {"a"}, 0); }), "metrics/ranking: got k = 0, expected at least 1");
  EXPECT_EQ(refusal([] { query_scores({"a"}, {}, 1); }),
            "metrics/ranking: got no relevant items, expected at least one");
  EXPECT_EQ(refusal([] { ranking_scores({}, {}, 1); }), "metrics/ranking: got no queries, expected at least one");
}

/// An item for each letter.
Items letters(const std::string& text) {
  Items all;
  for (const char c : text) all.emplace_back(1, c);
  return all;
}

TEST(Ranking, HasTheScoresOfScikitLearn) {
  const auto cases = nlohmann::json::parse(std::ifstream("heed/metrics/fixtures/ranking.json")).at("cases");
  EXPECT_GE(cases.size(), 300U);
  for (const auto& one : cases) {
    SCOPED_TRACE(one.dump());
    const auto found = query_scores(letters(one.at(0)), letters(one.at(1)), one.at(2));
    EXPECT_EQ(found.hit, one.at(3).get<double>());
    EXPECT_NEAR(found.ndcg, one.at(4).get<double>(), kClose);
    EXPECT_NEAR(found.reciprocal_rank, one.at(5).get<double>(), kClose);
  }
}

}  // namespace
}  // namespace heed
