#include "heed/data/corpus.h"

#include <fstream>

#include "heed/data/recipe.h"
#include "heed/data/testing.h"

namespace heed {
namespace {

Corpus corpus_of(const std::string& data) {
  const Settings recipe = parse_recipe("data: " + data, "test");
  return read_corpus(read_corpus_options(recipe.at("data")));
}

std::string refused(const std::string& data) {
  try {
    corpus_of(data);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

class CorpusFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "heed_corpus_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    write("a.en", "one two\nthree\nfour five six\n");
    write("a.de", "eins zwei\ndrei\nvier f\xC3\xBCnf sechs\n");
    write("links", "0-0 1-1\n0-0\n0-0 1-1 2p2\n");
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(root_ + "/" + name) << text; }
  std::string data(const std::string& more) const {
    return "{root: " + root_ + ", train: [a.en, a.de], dev: [a.en, a.de], " + more + "}";
  }
  std::string root_;
};

TEST_F(CorpusFiles, AreReadBelowTheRoot) {
  const Corpus corpus = corpus_of(data("test: [a.en, a.de], links: links"));
  EXPECT_EQ(corpus.train.source[2], "four five six");
  EXPECT_EQ(corpus.test.links.size(), 3U);
}

TEST_F(CorpusFiles, LeaveLongPairsOutOfTrainingAlone) {
  const Corpus corpus = corpus_of(data("max_length: 2"));
  EXPECT_EQ(corpus.train.size(), 2U);
  EXPECT_EQ(corpus.dev.size(), 3U);
}

// Any Unicode whitespace separates words, not only U+0020.
TEST_F(CorpusFiles, CountWordsBetweenWhitespaceOfAnyKind) {
  write("a.de", "eins\tzwei\u3000drei\ndrei\nvier f\xC3\xBCnf\n");
  const Corpus corpus = corpus_of(data("max_length: 2"));
  EXPECT_EQ(corpus.train.size(), 1U);
  EXPECT_EQ(corpus.left_out, 2);
}

TEST_F(CorpusFiles, KnowWhereThePairsOfDevAndTestWereWritten) {
  const Corpus corpus = corpus_of(data("test: [a.en, a.de]"));
  EXPECT_EQ(corpus.dev.origins.at(1), root_ + "/a.en:2 and " + root_ + "/a.de:2");
  EXPECT_EQ(corpus.test.origins.size(), 3U);
}

TEST(Corpus, SuggestsTheGrammarWhereItsNameIsMisspelt) {
  EXPECT_EQ(
      refused("{train: grammer}"),
      "recipe: data.train is 'grammer' (did you mean 'grammar'?), but there is no file grammer; expected one or two "
      "files, or the word grammar [test:1]");
}

TEST_F(CorpusFiles, CanBeSwappedWithTheirLinks) {
  write("links", "0-1\n0-0\n2-0\n");
  const Corpus corpus = corpus_of(data("test: [a.en, a.de], links: links, swap: true"));
  EXPECT_EQ(corpus.train.source[1], "drei");
  EXPECT_EQ(pharaoh(corpus.test.links[0]), "1-0");
}

// Sentences of 3, 2 and 1 words. Links without a word 0 and with a word 3 are taken to start at 1.
TEST_F(CorpusFiles, NoticeLinksThatAreCountedFromOne) {
  write("long.en", "one two three\none two\none\n");
  write("links", "1-1 3-3\n2-2\n1-1\n");
  const std::string test = "test: [long.en, long.en], links: links";
  EXPECT_NE(refused(data(test)).find("data.links_from_one: true"), std::string::npos) << refused(data(test));
  const Corpus corpus = corpus_of(data(test + ", links_from_one: true"));
  EXPECT_EQ(pharaoh(corpus.test.links[0]), "0-0 2-2");
  write("links", "1-1 3-3\n2-2\n0-0\n");  // one link out of range, not another numbering
  EXPECT_EQ(corpus_of(data(test)).test.links[1], parse_links("2-2"));
  write("links", "1-1 2-2\n1-1\n\n");  // either numbering is possible
  EXPECT_EQ(corpus_of(data(test)).test.links[1], parse_links("1-1"));
}

// md5 of the source modulo 4, by Python's hashlib: "one two" 0, "nine ten" 1, "three" 0, "seven" 2, "four five six" 3,
// "two" 1. Dev takes residue 1, test 2, train the others: every pair is in exactly one of them.
TEST_F(CorpusFiles, FallIntoThreePartsThatHaveNoPairInCommon) {
  write("all.en", "one two\nnine ten\nthree\nseven\nfour five six\ntwo\n");
  write("all.de", "eins zwei\nneun zehn\ndrei\nsieben\nvier fünf sechs\nzwei\n");
  const Corpus corpus =
      corpus_of("{root: " + root_ + ", train: [all.en, all.de], split: {modulo: 4, dev: [1], test: [2]}}");
  using Lines = std::vector<std::string>;
  EXPECT_EQ(corpus.train.source, (Lines{"one two", "three", "four five six"}));
  EXPECT_EQ(corpus.dev.source, (Lines{"nine ten", "two"}));
  EXPECT_EQ(corpus.test.source, (Lines{"seven"}));
  EXPECT_EQ(corpus.train.target, (Lines{"eins zwei", "drei", "vier fünf sechs"}));
  EXPECT_EQ(corpus.dev.target, (Lines{"neun zehn", "zwei"}));
  EXPECT_EQ(corpus.test.target, (Lines{"sieben"}));
}

TEST_F(CorpusFiles, NameTheMissingKey) {
  EXPECT_NE(refused("{root: " + root_ + ", dev: [a.en, a.de]}").find("data.train"), std::string::npos);
  EXPECT_NE(refused("{root: " + root_ + ", train: [a.en, a.de]}").find("data.dev"), std::string::npos);
  EXPECT_NE(refused(data("test: [b.en, a.de]")).find("b.en"), std::string::npos);
  write("links", "0-0\n");
  EXPECT_NE(refused(data("test: [a.en, a.de], links: links")).find("1 lines"), std::string::npos);
  EXPECT_NE(refused(data("split: {modulo: 20, dev: [21], test: [1]}")).find("data.split.dev"), std::string::npos);
}

TEST(Corpus, OfTheGrammarHasGoldLinks) {
  const Corpus corpus = corpus_of("{train: grammar, grammar: {train: 30, dev: 3, test: 4}}");
  EXPECT_EQ(corpus.train.size(), 30U);
  EXPECT_EQ(corpus.test.links.size(), 4U);
}

}  // namespace
}  // namespace heed
