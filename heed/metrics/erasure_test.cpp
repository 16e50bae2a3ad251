// What erased tokens change, on texts small enough to count by hand.

#include "heed/metrics/erasure.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using Values = std::vector<double>;
using Order = std::vector<int64_t>;

TEST(ErasureShares, AreThoseOfEraser) {
  EXPECT_EQ(erasure_shares(), (Values{0.01, 0.05, 0.1, 0.2, 0.5}));
}

TEST(ErasureShares, AreRoundedUpToTokens) {
  EXPECT_EQ(tokens_of_share(0.01, 19), 1);
  EXPECT_EQ(tokens_of_share(0.2, 19), 4);
  EXPECT_EQ(tokens_of_share(0.5, 19), 10);
  EXPECT_EQ(tokens_of_share(0.1, 30), 3);  // 0.1 * 30 is 3.0000000000000004
  EXPECT_EQ(tokens_of_share(0.01, 500), 5);
  EXPECT_EQ(tokens_of_share(0.5, 1), 1);
  EXPECT_EQ(tokens_of_share(0.5, 0), 0);
  EXPECT_EQ(tokens_of_share(1, 7), 7);
}

TEST(Ranked, HasTheLargestScoreFirstAndBreaksTiesAsItIsTold) {
  EXPECT_EQ(ranked({0.1, 0.5, 0.1, 0.3}, {0, 0, 1, 0}), (Order{1, 3, 2, 0}));
  EXPECT_EQ(ranked({0.1, 0.5, 0.1, 0.3}, {1, 0, 0, 0}), (Order{1, 3, 0, 2}));
  EXPECT_EQ(ranked({2, 2, 2}, {0.5, 0.9, 0.1}), (Order{1, 0, 2}));
  EXPECT_EQ(ranked({-INFINITY, INFINITY}, {0, 0}), (Order{1, 0}));
  EXPECT_EQ(ranked({}, {}), Order{});
}

// p(y) is .9 on the whole text: without 1, 2 of 4 tokens .5 and .2; those alone .7 and 1.
TEST(ErasureScores, AreDifferencesAndTheirMeans) {
  const ErasureScores scores = erasure_scores(0.9, {0.5, 0.2}, {0.7, 1});
  ASSERT_EQ(scores.comprehensiveness.size(), 2U);
  EXPECT_NEAR(scores.comprehensiveness[0], 0.4, 1e-15);
  EXPECT_NEAR(scores.comprehensiveness[1], 0.7, 1e-15);
  EXPECT_NEAR(scores.sufficiency[0], 0.2, 1e-15);
  EXPECT_NEAR(scores.sufficiency[1], -0.1, 1e-15);  // the first tokens say y more clearly than the whole text
  EXPECT_NEAR(scores.comprehensiveness_area, 0.55, 1e-15);
  EXPECT_NEAR(scores.sufficiency_area, 0.05, 1e-15);
}

/// How many tokens the search finds, and how often it asks.
std::pair<std::optional<int64_t>, int> found(FlipSearch search, const std::function<bool(int64_t)>& flips) {
  int asked = 0;
  while (const auto next = search.next()) {
    search.add(*next, flips(*next));
    ++asked;
    if (asked > 100) break;
  }
  return {search.tokens_to_flip(), asked};
}

TEST(FlipSearch, FindsEveryThreshold) {
  for (int64_t tokens = 1; tokens <= 20; ++tokens)
    for (int64_t threshold = 1; threshold <= tokens; ++threshold) {
      const auto [number, asked] = found(FlipSearch(tokens), [&](int64_t removed) { return removed >= threshold; });
      EXPECT_EQ(number, threshold) << tokens;
      EXPECT_LE(asked, 6) << tokens;
    }
}

TEST(FlipSearch, StartsFromWhatIsKnown) {
  FlipSearch search(100);
  search.add(50, true);
  search.add(10, false);
  search.add(20, true);
  search.add(5, false);
  EXPECT_EQ(search.next(), 15);
  const auto [number, asked] = found(search, [](int64_t removed) { return removed >= 12; });
  EXPECT_EQ(number, 12);
  EXPECT_EQ(asked, 3);  // 15, 12, 11
}

TEST(FlipSearch, SaysWhenADecisionStays) {
  const auto [number, asked] = found(FlipSearch(9), [](int64_t) { return false; });
  EXPECT_EQ(number, std::nullopt);
  EXPECT_EQ(asked, 1);  // without any token
  EXPECT_EQ(found(FlipSearch(0), [](int64_t) { return true; }).first, std::nullopt);
  EXPECT_EQ(found(FlipSearch(1), [](int64_t) { return true; }).first, 1);
}

// 3 flips, 4 to 6 do not, 7 to 9 do: 3 and 7 are both such that one token fewer does not.
TEST(FlipSearch, FindsAChangeWhereADecisionChangesBack) {
  const auto flips = [](int64_t removed) { return removed == 3 || removed >= 7; };
  const int64_t number = found(FlipSearch(9), flips).first.value();
  EXPECT_TRUE(flips(number));
  EXPECT_FALSE(flips(number - 1));
}

TEST(Erasure, RefusesWhatHasNoMeaning) {
  EXPECT_EQ(refusal([] { tokens_of_share(0, 3); }),
            "metrics/erasure: got a share of 0, expected above 0 and at most 1");
  EXPECT_EQ(refusal([] {
              ranked({1, std::nan("")}, {0, 0});
            }),
            "metrics/erasure: got NaN as the score of token 1, expected a number");
  EXPECT_EQ(refusal([] { ranked({1}, {}); }),
            "metrics/erasure: got 1 scores and 0 numbers that break ties, expected equal numbers");
  EXPECT_EQ(refusal([] { erasure_scores(1, {}, {}); }),
            "metrics/erasure: got 0 outputs without tokens and 0 of tokens alone, expected equal numbers, at least 1");
}

}  // namespace
}  // namespace heed
