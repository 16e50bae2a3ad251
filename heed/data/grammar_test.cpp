#include "heed/data/grammar.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

std::vector<std::string> words_of(const std::string& sentence) {
  std::istringstream in(sentence);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// "0-0 1p2", and the sentences.
std::string text_of(const GrammarPair& pair) {
  std::ostringstream out;
  out << pair.source << '\t' << pair.target << '\t';
  for (const auto& link : pair.links) out << link.source << (link.sure ? '-' : 'p') << link.target << ' ';
  return out.str();
}

std::set<std::string> sources_of(const std::vector<GrammarPair>& pairs) {
  std::set<std::string> sources;
  for (const auto& pair : pairs) sources.insert(pair.source);
  return sources;
}

/// The pair with this English sentence among the first ones, with its links.
std::string found(const std::string& source) {
  static const auto pairs = grammar_pairs(1, 6000);
  const auto at = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.source == source; });
  return at == pairs.end() ? source + " is not there" : text_of(*at);
}

// FNV-1a over all that is in the pairs: figures of the demonstration hang on these very sentences.
TEST(Grammar, WritesTheSamePairsOnEveryMachine) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (const auto& pair : grammar_pairs(1, 1000))
    for (const char letter : text_of(pair) + '\n') hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
  EXPECT_EQ(hash, 15041878831805201342U);
}

TEST(Grammar, BeginsTheSameHoweverManyPairsAreWanted) {
  const auto few = grammar_pairs(7, 50), more = grammar_pairs(7, 500), other = grammar_pairs(8, 50);
  for (size_t i = 0; i < few.size(); ++i) EXPECT_EQ(text_of(few[i]), text_of(more[i]));
  EXPECT_NE(text_of(few[0]) + text_of(few[1]), text_of(other[0]) + text_of(other[1]));
  EXPECT_TRUE(grammar_pairs(7, 0).empty());
  EXPECT_THROW(grammar_pairs(7, -1), Error);
}

TEST(Grammar, LinksWordsThatAreThereEachPairOnce) {
  for (const auto& pair : grammar_pairs(2, 3000)) {
    const int64_t Lk = std::ssize(words_of(pair.source)), Lq = std::ssize(words_of(pair.target));
    std::set<std::pair<int64_t, int64_t>> seen;
    for (const auto& link : pair.links) {
      EXPECT_TRUE(link.source >= 0 && link.source < Lk && link.target >= 0 && link.target < Lq) << text_of(pair);
      EXPECT_TRUE(seen.insert({link.source, link.target}).second) << text_of(pair);
    }
  }
}

TEST(Grammar, LinksEveryWordButTheArticle) {
  for (const auto& pair : grammar_pairs(3, 3000)) {
    const auto source = words_of(pair.source), target = words_of(pair.target);
    std::vector<bool> from(source.size()), to(target.size());
    for (const auto& link : pair.links) {
      from[static_cast<size_t>(link.source)] = true;
      to[static_cast<size_t>(link.target)] = true;
    }
    for (size_t i = 0; i < source.size(); ++i) EXPECT_EQ(from[i], source[i] != "the") << text_of(pair);
    EXPECT_EQ(std::count(to.begin(), to.end(), false), 0) << text_of(pair);
  }
}

// A word means the same wherever it stands: each English word has one Chinese word, by its sure links, and the words
// that have two are those of the grammar (does: 吗, 的 of 's and that have one each; and: 而且 and 和).
TEST(Grammar, TranslatesAWordTheSameWayEverywhere) {
  std::map<std::string, std::set<std::string>> meanings;
  for (const auto& pair : grammar_pairs(4, 5000)) {
    const auto source = words_of(pair.source), target = words_of(pair.target);
    for (const auto& link : pair.links)
      if (link.sure)
        meanings[source[static_cast<size_t>(link.source)]].insert(target[static_cast<size_t>(link.target)]);
  }
  for (const auto& [word, chinese] : meanings)
    EXPECT_EQ(chinese.size(), word == "and" ? 2U : 1U) << word << " has " << *chinese.begin();
  EXPECT_EQ(meanings["and"], (std::set<std::string>{"和", "而且"}));
  EXPECT_EQ(meanings["that"], std::set<std::string>{"的"});
}

TEST(Grammar, HasLengthsFromTwoToThirtyInEqualShares) {
  constexpr int64_t kPairs = 14500;  // 500 of each length
  std::map<int64_t, int64_t> count;
  for (const auto& pair : grammar_pairs(5, kPairs)) ++count[std::ssize(words_of(pair.source))];
  EXPECT_EQ(count.begin()->first, 2);
  EXPECT_EQ(count.rbegin()->first, 30);
  for (int64_t length = 4; length <= 30; ++length) {
    EXPECT_GT(count[length], 420) << length;  // by 4 standard deviations
    EXPECT_LT(count[length], 620) << length;  // the places of the short ones, of which there are few, go to others
  }
}

TEST(Grammar, HasAboutAHundredWordsOnEitherSide) {
  std::set<std::string> english, chinese;
  for (const auto& pair : grammar_pairs(6, 5000)) {
    for (const auto& word : words_of(pair.source)) english.insert(word);
    for (const auto& word : words_of(pair.target)) chinese.insert(word);
  }
  EXPECT_EQ(english.size(), 140U);
  EXPECT_EQ(chinese.size(), 114U);
}

TEST(Grammar, GivesASentenceOneTranslation) {
  std::map<std::string, std::string> known;
  int64_t again = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed)
    for (const auto& pair : grammar_pairs(seed, 10000)) {
      const auto [entry, fresh] = known.emplace(pair.source, text_of(pair));
      EXPECT_EQ(entry->second, text_of(pair));
      again += !fresh;
    }
  EXPECT_GT(again, 1000);  // or the test says nothing
}

TEST(GrammarSplit, KeepsTheSetsApartForAllSeeds) {
  const auto one = grammar_split(1, 4000, 200, 200), two = grammar_split(2, 4000, 200, 200);
  EXPECT_EQ(one.train.size(), 4000U);
  EXPECT_EQ(one.dev.size(), 200U);
  EXPECT_EQ(one.test.size(), 200U);
  std::set<std::string> train = sources_of(one.train), held_out;
  EXPECT_EQ(train.size(), 4000U);
  train.merge(sources_of(two.train));
  for (const auto* set : {&one.dev, &one.test, &two.dev, &two.test})
    for (const auto& pair : *set) EXPECT_EQ(train.count(pair.source), 0U) << pair.source;
  const auto dev = sources_of(one.dev);
  for (const auto& pair : two.test) EXPECT_EQ(dev.count(pair.source), 0U) << pair.source;
}

TEST(GrammarSplit, HoldsOutSentencesOfEveryLength) {
  std::array<int64_t, 4> buckets{};
  for (const auto& pair : grammar_split(1, 0, 0, 400).test) {
    const int64_t length = std::ssize(words_of(pair.source));
    ++buckets[length <= 9 ? 0 : length <= 16 ? 1 : length <= 23 ? 2 : 3];
  }
  for (const int64_t count : buckets) EXPECT_GT(count, 60);
}

TEST(GrammarSplit, NeverTrainsOnTomChasesJerry) {
  const std::string sentence = "Tom chases Jerry";
  EXPECT_EQ(grammar_set_of(sentence), GrammarSet::test);
  std::string text;
  for (uint64_t seed = 1; text.empty() && seed <= 10; ++seed)
    for (const auto& pair : grammar_split(seed, 0, 0, 400).test)
      if (pair.source == sentence) text = text_of(pair);
  EXPECT_EQ(text, "Tom chases Jerry\t汤姆 追逐 杰瑞\t0-0 1-1 2-2 ");
}

TEST(Grammar, PutsTheMeasureWordBetweenNumberAndNoun) {
  EXPECT_EQ(found("two cats sleep"), "two cats sleep\t两 只 猫 睡觉\t0-0 0p1 1p1 1-2 2-3 ");
}

TEST(Grammar, PutsPlaceTimeAndMannerBeforeTheVerb) {
  EXPECT_EQ(found("John runs in the garden"),
            "John runs in the garden\t约翰 在 花园 里 跑步\t0-0 2-1 4-2 2p3 4p3 1-4 ");
  EXPECT_EQ(found("today his doctor sleeps slowly in the garden"),
            "today his doctor sleeps slowly in the garden\t今天 他 的 医生 在 花园 里 慢慢 睡觉\t"
            "0-0 1-1 1p2 2p2 2-3 5-4 7-5 5p6 7p6 4-7 3-8 ");
}

TEST(Grammar, WritesANameOfTwoWordsAsOne) {
  EXPECT_EQ(found("John laughs in Hong Kong"), "John laughs in Hong Kong\t约翰 在 香港 笑\t0-0 2-1 3-2 4-2 1-3 ");
}

TEST(Grammar, PutsTheTitleBehindTheName) {
  EXPECT_EQ(found("Uncle Sam laughs"), "Uncle Sam laughs\t山姆 叔叔 笑\t1-0 0-1 2-2 ");
}

TEST(Grammar, PutsTheRelativeClauseBeforeTheNoun) {
  EXPECT_EQ(found("every bird that sees Mary dances"),
            "every bird that sees Mary dances\t看见 玛丽 的 每 只 鸟 跳舞\t3-0 4-1 2-2 0-3 0p4 1p4 1-5 5-6 ");
}

TEST(Grammar, PutsWhatIsGivenBeforeTheVerb) {
  EXPECT_EQ(found("Jerry gives the map to Tom"),
            "Jerry gives the map to Tom\t杰瑞 把 地图 送 给 汤姆\t0-0 1p1 4p1 3-2 1-3 4-4 5-5 ");
}

TEST(Grammar, NegatesAndAsks) {
  EXPECT_EQ(found("Anna does not dance"), "Anna does not dance\t安娜 不 跳舞\t0-0 2-1 1p1 3-2 ");
  EXPECT_EQ(found("does Tom know Jack"), "does Tom know Jack\t汤姆 认识 杰克 吗\t1-0 2-1 3-2 0-3 ");
}

}  // namespace
}  // namespace heed
