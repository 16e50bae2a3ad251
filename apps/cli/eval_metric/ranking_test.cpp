// HR, NDCG and MRR of files of rankings.

#include <cmath>

#include "apps/cli/eval_metric/testing_files.h"
#include <gtest/gtest.h>

namespace heed::cli {
namespace {

using namespace testing_files;

// The first relevant items are at ranks 2 and 1; the third query has none, and the fourth no ranking.
const Lines kRelevant{"q1\tb", "q2\tx y", "q3\t", "q4\tz"}, kRanked{"q2\tx w y", "q1\ta b", "q3\ta"};

TEST(RankingsOfFiles, AreMatchedByQuery) {
  auto o = options({"hr", "ndcg", "mrr"}, {kRelevant, kRanked});
  o.k = 1;
  auto found = json(o);
  EXPECT_EQ(found["hr"]["name"], "HR@1");
  EXPECT_NEAR(found["hr"]["score"].get<double>(), 1. / 3, 1e-12);
  EXPECT_NEAR(found["mrr"]["score"].get<double>(), (.5 + 1 + 0) / 3, 1e-12);
  EXPECT_EQ(found["mrr"]["queries"], 3);
  EXPECT_EQ(found["mrr"]["without_relevant"], 1);
  EXPECT_EQ(found["mrr"]["without_ranking"], 1);
  o.k = 3;
  found = json(o);
  EXPECT_NEAR(found["hr"]["score"].get<double>(), 2. / 3, 1e-12);
  const double third = 1 / std::log2(4), second = 1 / std::log2(3);
  EXPECT_NEAR(found["ndcg"]["score"].get<double>(), (second + (1 + third) / (1 + second) + 0) / 3, 1e-12);
}

TEST(RankingsOfFiles, WithoutRelevantItemsHaveNoScore) {
  EXPECT_TRUE(std::isnan(score("mrr", {{"q\t"}, {"q\ta"}})));
}

TEST(RankingsOfFiles, NameTheLineThatIsWrong) {
  EXPECT_EQ(problem({"mrr"}, {{"q\ta"}, {"q a b"}}),
            "eval: a:1: got 'q a b', expected query<TAB>item item ..., or query<TAB> without items");
  EXPECT_EQ(problem({"mrr"}, {{"q\ta"}, {"q\ta", ""}}).substr(0, 26), "eval: a:2: got '', expecte");
  EXPECT_EQ(problem({"mrr"}, {{"q\ta"}, {"q\ta b a"}}),
            "eval: a:1: got the item 'a' again, expected each item of a ranking once");
  EXPECT_EQ(problem({"mrr"}, {{"q\ta", "q\tb"}, {"q\ta"}}),
            "eval: gold:2: got the query 'q' again, expected each query once");
  EXPECT_EQ(score("mrr", {{"q\ta a"}, {"q\ta"}}), 1);  // relevant items that are repeated count once
}

}  // namespace
}  // namespace heed::cli
