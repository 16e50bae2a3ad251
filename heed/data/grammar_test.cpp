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

/// The sentences and their links as "0-0 1p2".
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

/// The text of the pair with this English sentence, among the first 6000 pairs.
std::string found(const std::string& source) {
  static const auto pairs = grammar_pairs(1, 6000);
  const auto at = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.source == source; });
  return at == pairs.end() ? source + " is not there" : text_of(*at);
}

// FNV-1a over the content of the pairs: the results of the demo depend on these sentences.
TEST(Grammar, WritesTheSamePairsOnEveryMachine) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (const auto& pair : grammar_pairs(1, 1000))
    for (const char letter : text_of(pair) + '\n') hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
  EXPECT_EQ(hash, 4760253369070804840U);
}

TEST(Grammar, GivesAPrefixForASmallerCount) {
  const auto few = grammar_pairs(7, 50), more = grammar_pairs(7, 500), other = grammar_pairs(8, 50);
  for (size_t i = 0; i < few.size(); ++i) EXPECT_EQ(text_of(few[i]), text_of(more[i]));
  EXPECT_NE(text_of(few[0]) + text_of(few[1]), text_of(other[0]) + text_of(other[1]));
  EXPECT_TRUE(grammar_pairs(7, 0).empty());
  EXPECT_THROW(grammar_pairs(7, -1), Error);
}

TEST(Grammar, LinksExistingWordsEachPairOnce) {
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

// Each English word has one Chinese word by its sure links, with two exceptions: "and" joins clauses (而且) or names
// (和), and "in" precedes a position (里) or a city (在).
TEST(Grammar, TranslatesAWordTheSameWayEverywhere) {
  std::map<std::string, std::set<std::string>> meanings;
  for (const auto& pair : grammar_pairs(4, 5000)) {
    const auto source = words_of(pair.source), target = words_of(pair.target);
    for (const auto& link : pair.links)
      if (link.sure)
        meanings[source[static_cast<size_t>(link.source)]].insert(target[static_cast<size_t>(link.target)]);
  }
  for (const auto& [word, chinese] : meanings)
    EXPECT_EQ(chinese.size(), word == "and" || word == "in" ? 2U : 1U) << word << " has " << *chinese.begin();
  EXPECT_EQ(meanings["and"], (std::set<std::string>{"和", "而且"}));
  EXPECT_EQ(meanings["in"], (std::set<std::string>{"在", "里"}));
  EXPECT_EQ(meanings["that"], std::set<std::string>{"的"});
}

TEST(Grammar, HasLengthsFromTwoToThirtyInEqualShares) {
  constexpr int64_t kPairs = 14500;  // 500 of each length
  std::map<int64_t, int64_t> count;
  for (const auto& pair : grammar_pairs(5, kPairs)) ++count[std::ssize(words_of(pair.source))];
  EXPECT_EQ(count.begin()->first, 2);
  EXPECT_EQ(count.rbegin()->first, 30);
  for (int64_t length = 4; length <= 30; ++length) {
    EXPECT_GT(count[length], 420) << length;  // a margin of 4 standard deviations
    EXPECT_LT(count[length], 620) << length;  // other lengths replace the missing short sentences
  }
}

TEST(Grammar, HasMoreThanAHundredWordsOnEitherSide) {
  std::set<std::string> english, chinese;
  for (const auto& pair : grammar_pairs(6, 5000)) {
    for (const auto& word : words_of(pair.source)) english.insert(word);
    for (const auto& word : words_of(pair.target)) chinese.insert(word);
  }
  EXPECT_EQ(english.size(), 164U);
  EXPECT_EQ(chinese.size(), 132U);
}

TEST(Grammar, GivesASentenceOneTranslation) {
  std::map<std::string, std::string> known;
  int64_t again = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed)
    for (const auto& pair : grammar_pairs(seed, 5000)) {
      const auto [entry, fresh] = known.emplace(pair.source, text_of(pair));
      EXPECT_EQ(entry->second, text_of(pair));
      again += !fresh;
    }
  EXPECT_GT(again, 200);  // otherwise the test checks nothing
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
  for (uint64_t seed = 1; text.empty() && seed <= 40; ++seed)
    for (const auto& pair : grammar_split(seed, 0, 0, 100).test)
      if (pair.source == sentence) text = text_of(pair);
  EXPECT_EQ(text, "Tom chases Jerry\t汤姆 追逐 杰瑞\t0-0 1-1 2-2 ");
}

TEST(Grammar, PutsTheMeasureWordBetweenNumberAndNoun) {
  EXPECT_EQ(found("two birds run"), "two birds run\t两 只 鸟 跑步\t0-0 0p1 1p1 1-2 2-3 ");
}

TEST(Grammar, PutsPositionTimeAndMannerBeforeTheVerb) {
  EXPECT_EQ(found("Peter sings behind the park"),
            "Peter sings behind the park\t彼得 在 公园 后面 唱歌\t0-0 2p1 4p1 4-2 2-3 1-4 ");
  EXPECT_EQ(found("Mrs Lucy will see an old dog in the kitchen now"),
            "Mrs Lucy will see an old dog in the kitchen now\t露西 太太 现在 会 在 厨房 里 看见 一 只 老 狗\t"
            "1-0 0-1 10-2 2-3 7p4 9p4 9-5 7-6 3-7 4-8 4p9 6p9 5p9 5-10 6-11 ");
}

TEST(Grammar, WritesANameOfTwoWordsAsOne) {
  EXPECT_EQ(found("does Alice sing in San Francisco"),
            "does Alice sing in San Francisco\t爱丽丝 在 旧金山 唱歌 吗\t1-0 3-1 4p1 4-2 5-2 2-3 0-4 ");
}

TEST(Grammar, PutsTheTitleAfterTheName) {
  EXPECT_EQ(found("Mr Jerry sings"), "Mr Jerry sings\t杰瑞 先生 唱歌\t1-0 0-1 2-2 ");
}

TEST(Grammar, PutsTheRelativeClauseBeforeTheNoun) {
  EXPECT_EQ(found("these horses that Paul chases will run today"),
            "these horses that Paul chases will run today\t保罗 追逐 的 这些 马 今天 会 跑步\t"
            "3-0 4-1 2-2 0p2 0-3 1-4 7-5 5-6 6-7 ");
}

TEST(Grammar, PutsWhatIsGivenBeforeTheVerb) {
  EXPECT_EQ(found("Sam gives the letter to Jack"),
            "Sam gives the letter to Jack\t山姆 把 信 送给 杰克\t0-0 1p1 4p1 3p1 3-2 1-3 4p3 5-4 ");
}

TEST(Grammar, NegatesAndAsks) {
  EXPECT_EQ(found("Tom does not sleep"), "Tom does not sleep\t汤姆 不 睡觉\t0-0 2-1 1p1 3-2 ");
  EXPECT_EQ(found("does Jack want Sam"), "does Jack want Sam\t杰克 想要 山姆 吗\t1-0 2-1 3-2 0-3 ");
}

TEST(Grammar, GivesPronounsAndJoinedNamesThePlainVerb) {
  EXPECT_EQ(found("we chase Lucy"), "we chase Lucy\t我们 追逐 露西\t0-0 1-1 2-2 ");
  EXPECT_EQ(found("she loves John"), "she loves John\t她 爱 约翰\t0-0 1-1 2-2 ");
  EXPECT_EQ(found("Tom and Jerry run"), "Tom and Jerry run\t汤姆 和 杰瑞 跑步\t0-0 1-1 2-2 3-3 ");
}

TEST(Grammar, HasTheExamplesOfTheSources) {
  EXPECT_EQ(found("Nanjing Yangtze River Bridge"), "Nanjing Yangtze River Bridge\t南京市 长江 大桥\t0-0 1-1 2-1 3-2 ");
  std::string text;
  for (const auto& pair : grammar_pairs(10, 16000))
    if (pair.source == "I love China") text = text_of(pair);
  EXPECT_EQ(text, "I love China\t我 爱 中国\t0-0 1-1 2-2 ");
}

}  // namespace
}  // namespace heed
