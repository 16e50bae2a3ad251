// BLEU against values of sacreBLEU's own tests, and computed by hand. sacrebleu_test.cpp compares many lines.

#include "heed/metrics/bleu.h"

#include <cmath>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/metrics/bleu_tokenizer.h"
#include "heed/version.h"

namespace heed {
namespace {

const Sentences kDogs{"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."};
const std::vector<Sentences> kDogReferences{
    {"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
    {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}};

TEST(Bleu, IsThatOfSacrebleuWithTwoReferences) {
  const Bleu found = bleu(kDogs, kDogReferences);
  EXPECT_NEAR(found.score, 48.53082701, 5e-9);
  EXPECT_EQ(found.counts.matches, (std::array<int64_t, 4>{14, 7, 5, 3}));
  EXPECT_EQ(found.counts.totals, (std::array<int64_t, 4>{17, 14, 11, 8}));
  EXPECT_NEAR(found.brevity_penalty, .94287314, 5e-9);
  EXPECT_EQ(found.counts.hypothesis_length, 17);
  EXPECT_EQ(found.counts.reference_length, 18);
  EXPECT_EQ(details(found), "82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)");
  EXPECT_NEAR(bleu(kDogs, kDogReferences, {.tokenizer = "none"}).score, 49.19195660, 5e-9);
}

// 3 of 4 unigrams, 2 of 3 bigrams, 1 of 2 trigrams, and 1/2 of one 4-gram: (3/4 2/3 1/2 1/2)^(1/4) = (1/8)^(1/4)
TEST(Bleu, SmoothsOrdersWithoutMatches) {
  const double score = bleu({"this is a fest"}, {{"this is a test"}}).score;
  EXPECT_NEAR(score, 59.46035575, 5e-9);
  EXPECT_NEAR(score, 100 * std::pow(0.125, 0.25), 1e-12);
}

TEST(Bleu, TakesTheNearestReferenceLengthTheShorterOfTwo) {
  EXPECT_EQ(bleu_counts("a b c", {"a b c d", "a b"}).reference_length, 2);
  EXPECT_EQ(bleu_counts("a b c", {"a b c d", "a"}).reference_length, 4);
}

TEST(Bleu, ClipsTheCountOfAnNgramToThatOfTheReference) {
  EXPECT_EQ(bleu_counts("the the the the", {"the cat the"}).matches[0], 2);
}

TEST(Bleu, IsZeroWithoutMatchesOrForEmptySentences) {
  EXPECT_EQ(bleu({"a b c d"}, {{"e f g h"}}).score, 0);
  EXPECT_EQ(bleu({""}, {{"e f g h"}}).score, 0);
  EXPECT_EQ(bleu({"a b"}, {{"a b"}}).score, 0);                  // no trigram
  EXPECT_NEAR(sentence_bleu("a b", {"a b"}).score, 100, 1e-12);  // the effective order is 2
}

TEST(Bleu, SignsAsSacrebleuDoes) {
  const std::string version = "|version:heed-" + std::string(kVersion);
  EXPECT_EQ(signature(BleuOptions{}), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp" + version);
  EXPECT_EQ(signature(BleuOptions{.tokenizer = "zh", .lowercase = true, .smoothing = Smoothing::floor}, 2),
            "nrefs:2|case:lc|eff:no|tok:zh|smooth:floor[0.10]" + version);
}

template <typename Call>
std::string problem(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Bleu, RefusesWhatDoesNotFit) {
  EXPECT_NE(problem([] { bleu({"a"}, {{"a", "b"}}); }).find("1 hypotheses but 2 references"), std::string::npos);
  EXPECT_NE(problem([] { bleu({}, {{}}); }).find("no hypotheses"), std::string::npos);
  EXPECT_NE(problem([] { bleu({"a"}, {}); }).find("no references"), std::string::npos);
  EXPECT_NE(problem([] { bleu({"a"}, {{"a"}}, {.tokenizer = "13b"}); }).find("did you mean '13a'"), std::string::npos);
  EXPECT_NE(problem([] { parse_smoothing("expo"); }).find("no smoothing called 'expo'"), std::string::npos);
}

std::string words_of(const char* tokenizer, const std::string& line) {
  return joined(bleu_tokenizer(tokenizer)(line), " ");
}

TEST(BleuTokenizer, SplitsOffPunctuationExceptInsideNumbers) {
  EXPECT_EQ(words_of("13a", "Hi, it's 1,234.5% (3-4)."), "Hi , it's 1,234.5 % ( 3 - 4 ) .");
  EXPECT_EQ(words_of("13a", "&quot;R&amp;D&quot;<skipped> 5."), "\" R & D \" 5 .");
  EXPECT_EQ(words_of("zh", "我爱Tom，3.5 5."), "我 爱 Tom ， 3.5 5.");
  EXPECT_EQ(words_of("intl", "„Ja“, 3,5€ 5."), "„ Ja “ , 3,5 € 5.");
  EXPECT_EQ(words_of("char", "a 汤姆"), "a 汤 姆");
  EXPECT_EQ(words_of("none", " a,  b. "), "a, b.");
}

}  // namespace
}  // namespace heed
