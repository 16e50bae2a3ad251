// A small English-Chinese grammar that generates parallel text: Tom chases Jerry / 汤姆 追逐 杰瑞.
//
// An English clause is          [time] subject [auxiliary or adverb] verb [object] [manner] [place] [time]
// and its Chinese counterpart   [time] subject [time] [auxiliary or adverb] [place] [manner] verb [object];
// a relative clause follows its noun in English and precedes it in Chinese, titles precede the name in
// English and follow it in Chinese,
// "behind the school" is 在 学校 后面, and "gives X to Y" is 把 X 送给 Y. Numbers and some determiners bring the
// measure word of the noun (two cats, 两 只 猫). A sentence may also be a noun phrase alone, such as Nanjing Yangtze
// River Bridge / 南京市 长江 大桥. Clauses are joined by and, but, because and so, in the same order on
// both sides. There are no random choices in the translation and no ambiguous attachments, so the Chinese sentence is a
// function of the English one.
//
// Every pair has gold links. Sure: a word and its translation, both words of New York and 纽约, of Yangtze River and
// 长江, does and 吗 in a question, 's and 的, that and 的, in and 在 before a city. Possible: a Chinese word without
// an English counterpart, linked to the words it connects: the measure word (determiner, adjective, noun), 的 (the
// adjective before and the word after it), 在 (preposition, place), 把 (verb, to, the word after it); and an English
// word without a Chinese counterpart: to with 送给, does of a negation with 不. Without a link: the.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/links.h"

namespace heed {

/// Words are separated by single spaces; the English side has 2 to 30 words.
struct GrammarPair {
  std::string source, target;
  Links links;  // by target word
};

/// `count` pairs with distinct English sentences and about equally many of each length (fewer of 2 or 3 words, because
/// few exist). The same seed gives the same pairs on every machine; a smaller count gives a prefix.
std::vector<GrammarPair> grammar_pairs(uint64_t seed, int64_t count);

/// The English sentence alone decides the set of a pair, so the sets of different seeds are disjoint too: one sentence
/// in twenty belongs to dev and one to test, among them "Tom chases Jerry". Arguments: number of pairs per set.
struct GrammarSplit {
  std::vector<GrammarPair> train, dev, test;
};
GrammarSplit grammar_split(uint64_t seed, int64_t train, int64_t dev, int64_t test);

enum class GrammarSet { train, dev, test };
/// The set to which an English sentence belongs.
GrammarSet grammar_set_of(const std::string& source);

}  // namespace heed
