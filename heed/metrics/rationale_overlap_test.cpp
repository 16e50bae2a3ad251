#include "heed/metrics/rationale_overlap.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

/// "x" is a word of the rationale.
std::vector<bool> words(const std::string& text) {
  std::vector<bool> all;
  for (const char word : text) all.push_back(word == 'x');
  return all;
}

SpanMatches match(const std::string& found, const std::string& gold) {
  return match_spans(words(found), words(gold));
}

double f1(const std::vector<SpanMatches>& texts) {
  const Statistics all = span_f1_statistics(texts);
  std::vector<double> sum(4);
  for (const auto& row : all.rows)
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += row[i];
  return all.score(sum);
}

TEST(Spans, AreRunsOfWords) {
  EXPECT_EQ(spans_of(words("xx.x..xxx")), (std::vector<std::pair<int64_t, int64_t>>{{0, 2}, {3, 4}, {6, 9}}));
  EXPECT_TRUE(spans_of(words("...")).empty());
  EXPECT_TRUE(spans_of({}).empty());
}

// Gold (1-4) and found (2-5): 2 of 4 words are in both. Gold (6-8) and found (7-9): 1 of 3. Found (11-12) is alone.
TEST(MatchSpans, CountsSpansThatShareHalfTheirWords) {
  const SpanMatches found = match("..xxx..xx..x", ".xxx..xx....");
  EXPECT_EQ(found.matched, 1);
  EXPECT_EQ(found.found, 3);
  EXPECT_EQ(found.gold, 2);
}

TEST(MatchSpans, HalfIsEnoughAndLessIsNot) {
  EXPECT_EQ(match("x...", "xx..").matched, 1);
  EXPECT_EQ(match("x...", "xxx.").matched, 0);
  EXPECT_EQ(match("xxxx", "xx.x").matched, 1);  // one found span of four words with one gold span of two
}

TEST(MatchSpans, EmptySidesHaveNone) {
  const SpanMatches none = match("...", "xx.");
  EXPECT_EQ(none.matched, 0);
  EXPECT_EQ(none.found, 0);
  EXPECT_EQ(none.gold, 1);
  EXPECT_EQ(match("xx.", "...").matched, 0);
}

// Precisions 1 and 1/3, mean 2/3; recalls 1/2 and 1/2, mean 1/2: 2 * (1/3) / (7/6) = 4/7.
TEST(SpanF1, IsOfMeansOverTexts) {
  EXPECT_NEAR(f1({{1, 1, 2}, {1, 3, 2}}), 4. / 7, 1e-15);
  EXPECT_EQ(f1({{0, 2, 2}}), 0);
  EXPECT_EQ(f1({{2, 2, 2}}), 1);
}

TEST(SpanF1, TextsWithoutARationaleDoNotCountForRecall) {
  EXPECT_NEAR(f1({{1, 1, 1}, {0, 1, 0}}), 2 * 0.5 / 1.5, 1e-15);
  EXPECT_TRUE(std::isnan(f1({{0, 1, 0}})));
}

TEST(MatchSpans, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal([] { match_spans({true}, {}); }),
            "metrics/rationale_overlap: got 1 words and 0 gold values, expected equal numbers");
}

}  // namespace
}  // namespace heed
