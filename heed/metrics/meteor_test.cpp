// METEOR computed by hand, and against NLTK on random and degenerate sentences. fixtures/meteor_scores.py writes
// fixtures/meteor.json. Tests with WordNet are skipped where it is not installed.

#include "heed/metrics/meteor.h"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/testing_refusal.h"
#include "heed/version.h"

namespace heed {
namespace {

using nlohmann::json;
using Stages = std::vector<std::string>;

constexpr double kClose = 1e-12;  // a few rounding errors of 1e-16

SentenceMeteor meteor_of(const std::string& hypothesis, const std::string& reference) {
  return meteor({hypothesis}, {{reference}}).sentences[0];
}

// 6 matches in 1 chunk: 1 - .5 / 216. In 3 chunks: 1 - .5 / 8. With a word too many, P = 6 / 7 and 2 chunks.
TEST(Meteor, LowersTheScoreForChunks) {
  const std::string reference = "The cat sat on the mat";
  EXPECT_NEAR(meteor_of(reference, reference).score, 1 - 0.5 / 216, kClose);
  EXPECT_NEAR(meteor_of("The cat was sat on the mat", reference).score, 0.96539162, 5e-9);
  EXPECT_NEAR(meteor_of("THIS Is a tEST", "this is a test").score, 0.99218750, kClose);
  EXPECT_NEAR(meteor_of("on the mat sat the cat", reference).score, 0.5, kClose);
}

// The last "the" of the hypothesis takes the last one of the reference, so no two matches are adjacent: 6 chunks.
TEST(Meteor, MatchesFromTheEnd) {
  const SentenceMeteor found = meteor_of("on the mat sat the cat", "The cat sat on the mat");
  EXPECT_EQ(found.chunks, 6);
  EXPECT_EQ(found.penalty, 0.5);
  EXPECT_EQ(found.precision, 1);
}

// walks and walking have one stem; P = 2 / 3, R = 1, Fmean = (2 / 3) / (.6 + .1) = 20 / 21; one chunk of two.
TEST(Meteor, MatchesStemsAfterWords) {
  const SentenceMeteor found = meteor_of("she walks home", "she walking");
  EXPECT_EQ(found.matches, (std::array<int64_t, 3>{1, 1, 0}));
  EXPECT_NEAR(found.score, (1 - 0.5 / 8) * 20 / 21, kClose);
}

TEST(Meteor, OfNltksExampleIsItsOwn) {
  const Meteor found =
      meteor({"It is a guide to action which ensures that the military always obeys the commands of the party"},
             {{"It is a guide to action that ensures that the military will forever heed Party commands"}});
  EXPECT_NEAR(found.score, 0.6944, 5e-5);
  EXPECT_EQ(found.stages, (Stages{"exact", "stem"}));
}

TEST(Meteor, IsZeroWhereNothingMatches) {
  EXPECT_EQ(meteor_of("a", "b").score, 0);
  EXPECT_EQ(meteor_of("", "b").score, 0);
  EXPECT_EQ(meteor_of("a", "").score, 0);
  EXPECT_EQ(meteor_of("", "").score, 0);
}

TEST(Meteor, TakesTheBestReferenceAndTheMeanOfSentences) {
  const Meteor found = meteor({"a b c", "x"}, {{"c", "y"}, {"a b c", "z"}});
  EXPECT_EQ(found.sentences[0].reference, 1U);
  EXPECT_NEAR(found.score, (1 - 0.5 / 27) / 2, kClose);
  EXPECT_EQ(found.matches, (std::array<int64_t, 3>{3, 0, 0}));
}

TEST(Meteor, SignsWithTheStagesThatRan) {
  EXPECT_EQ(signature(MeteorOptions{}, 2),
            "nrefs:2|case:lc|tok:none|stages:exact+stem|version:heed-" + std::string(kVersion));
}

TEST(Meteor, RefusesACorpusWithSentencesMissing) {
  EXPECT_EQ(refusal([] {
              meteor({"a"}, {{"a", "b"}});
            }),
            "metrics/meteor: got 1 hypotheses but 2 references, expected equal numbers");
  EXPECT_EQ(refusal([] { meteor({"a"}, {{"a"}}, {.alpha = 1.5}); }),
            "metrics/meteor: got alpha = 1.5, expected 0 to 1");
}

// 100,000 words, all alike or all different: matching takes linear time.
TEST(Meteor, OfLongLinesTakesLinearTime) {
  std::string same, different;
  for (int i = 0; i < 100'000; ++i) same += "word ", different += "w" + std::to_string(i) + " ";
  EXPECT_NEAR(meteor_of(same, same).score, 1, 1e-12);
  EXPECT_EQ(meteor_of(same, different).score, 0);
}

/// Cases of the fixture: hypothesis, references, score without WordNet, score with it.
void expect_scores_of_nltk(const MeteorOptions& options, size_t column) {
  const json cases = json::parse(std::ifstream("heed/metrics/fixtures/meteor.json")).at("cases");
  ASSERT_GE(cases.size(), 200U);
  for (const auto& one : cases) {
    std::vector<std::vector<std::string>> references;
    for (const auto& reference : one.at(1)) references.push_back({reference.get<std::string>()});
    const Meteor found = meteor({one.at(0).get<std::string>()}, references, options);
    EXPECT_NEAR(found.score, one.at(column).get<double>(), kClose) << one;
  }
}

TEST(Meteor, HasTheScoresOfNltkWithoutWordNet) {
  expect_scores_of_nltk({}, 2);
}

TEST(Meteor, HasTheScoresOfNltkWithWordNet) {
  const auto folder = wordnet_folder();
  if (!folder) GTEST_SKIP() << "WordNet is not there; install wordnet-base or set WNSEARCHDIR";
  const WordNet wordnet(*folder);
  expect_scores_of_nltk({.wordnet = &wordnet}, 3);
  const Meteor found = meteor({"the automobile stopped"}, {{"the car halted"}}, {.wordnet = &wordnet});
  EXPECT_EQ(found.matches, (std::array<int64_t, 3>{1, 0, 1}));  // stop is halt; the stem automobil is no word
  EXPECT_EQ(meteor_stages({.wordnet = &wordnet}), (Stages{"exact", "stem", "synonym"}));
}

}  // namespace
}  // namespace heed
