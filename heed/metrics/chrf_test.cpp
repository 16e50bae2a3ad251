// chrF computed by hand; sacrebleu_test.cpp compares many lines with sacreBLEU.

#include "heed/metrics/chrf.h"

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/version.h"

namespace heed {
namespace {

// "abc" for "abd": unigrams 2/3, bigrams 1/2, trigrams 0/1; no higher orders. P = R = (2/3 + 1/2 + 0) / 3 = 7/18.
TEST(Chrf, IsTheMeanOverTheOrdersThatBothSidesHave) {
  EXPECT_NEAR(chrf({"abc"}, {{"abd"}}).score, 100.0 * 7 / 18, 1e-12);
  EXPECT_NEAR(chrf({"a b\tc"}, {{"ab\u00A0d"}}).score, 100.0 * 7 / 18, 1e-12);  // whitespace does not count
}

// Unigrams: P = 2/2, R = 2/4; bigrams: P = 1/1, R = 1/3. Means P = 1, R = 5/12; 5 P R / (4 P + R) = 25/12 / (53/12).
TEST(Chrf, CountsRecallTwice) {
  EXPECT_NEAR(chrf({"ab"}, {{"abcd"}}).score, 100.0 * 25 / 53, 1e-12);
}

// "(hi)" is "(hi" and ")": of two words one is in "hi )".
TEST(Chrf, SplitsOffOneOuterPunctuationCharacterOfAWord) {
  const ChrfOptions words{.character_order = 0, .word_order = 1};
  EXPECT_NEAR(chrf({"(hi)"}, {{"hi )"}}, words).score, 50, 1e-12);
  EXPECT_NEAR(chrf({"(hi"}, {{"( hi"}}, words).score, 100, 1e-12);
}

TEST(Chrf, TakesTheBestReference) {
  EXPECT_NEAR(chrf({"ab"}, {{"xy"}, {"ab"}}).score, 100, 1e-12);
}

TEST(Chrf, IsZeroForEmptySentences) {
  EXPECT_EQ(chrf({""}, {{"ab"}}).score, 0);
  EXPECT_EQ(chrf({""}, {{""}}).score, 0);
  EXPECT_THROW(chrf({"a"}, {{"a", "b"}}), Error);
  EXPECT_THROW(chrf({"a"}, {{"a"}}, {.character_order = 0}), Error);
}

TEST(Chrf, SignsAsSacrebleuDoes) {
  EXPECT_EQ(chrf_name(ChrfOptions{}), "chrF2");
  EXPECT_EQ(chrf_name(ChrfOptions{.word_order = 2}), "chrF2++");
  EXPECT_EQ(signature(ChrfOptions{.word_order = 2}),
            "nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:heed-" + std::string(kVersion));
}

}  // namespace
}  // namespace heed
