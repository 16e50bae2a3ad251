// A small English-Chinese grammar that writes its own parallel text: Tom chases Jerry / 汤姆 追逐 杰瑞.
//
// An English clause is          [time] subject [auxiliary or adverb] verb [object] [manner] [place] [time]
// and its Chinese counterpart   [time] subject [time] [auxiliary or adverb] [place] [manner] verb [object];
// a relative clause follows its noun in English and precedes it in Chinese, titles stand before and after the name,
// "behind the school" is 在 学校 后面, and "gives X to Y" is 把 X 送给 Y. Numbers and some determiners bring the
// measure word of the noun (two cats, 两 只 猫). A sentence may also be a noun phrase alone, such as Nanjing Yangtze
// River Bridge / 南京市 长江 大桥. Clauses are joined by and, but, because and so, in the same order on
// both sides. Nothing hangs on chance or on an attachment that could be read in two ways, so the Chinese sentence is a
// function of the English one.
//
// Links come with the words. Sure: a word and its translation, both words of New York and 纽约, of Yangtze River and
// 长江, does and 吗 in a question, 's and 的, that and 的, in and 在 before a city. Possible: a Chinese word that
// English does not say, and what it holds together: the measure word (determiner, adjective, noun), 的 (the adjective
// before and the word after it), 在 (preposition, place), 把 (verb, to, the word after it); and an English word that
// Chinese does not say: to with 送给, does of a negation with 不. Without a link: the.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/links.h"

namespace heed {

/// Words separated by single whitespace; the English side has 2 to 30.
struct GrammarPair {
  std::string source, target;
  Links links;  // by target word
};

/// So many pairs, no English sentence twice, about as many of each length (few have 2 or 3 words, as there are not
/// many). The same for the same seed on every machine; fewer pairs are the first ones of more.
std::vector<GrammarPair> grammar_pairs(uint64_t seed, int64_t count);

/// Which set a pair belongs to is decided by its English sentence alone, so sets of different seeds have nothing in
/// common either: one sentence of twenty is for dev and one for test, among them "Tom chases Jerry".
struct GrammarSplit {
  std::vector<GrammarPair> train, dev, test;
};
GrammarSplit grammar_split(uint64_t seed, int64_t train, int64_t dev, int64_t test);

enum class GrammarSet { train, dev, test };
GrammarSet grammar_set_of(const std::string& source);

}  // namespace heed
