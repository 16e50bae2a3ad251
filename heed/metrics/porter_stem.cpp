#include "heed/metrics/porter_stem.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "heed/base/utf8.h"

namespace heed {
namespace {

using Word = std::u32string;
using WordView = std::u32string_view;

std::vector<bool> consonants(WordView word) {
  std::vector<bool> all;
  all.reserve(word.size());
  for (const char32_t c : word) {
    const bool vowel = WordView(U"aeiou").find(c) != WordView::npos;
    all.push_back(!vowel && (c != U'y' || all.empty() || !all.back()));
  }
  return all;
}

/// m of the paper: the number of consonants after a vowel.
size_t measure(WordView stem) {
  const auto consonant = consonants(stem);
  size_t count = 0;
  for (size_t i = 1; i < consonant.size(); ++i) count += !consonant[i - 1] && consonant[i] ? 1 : 0;
  return count;
}

bool contains_vowel(WordView stem) {
  for (const bool consonant : consonants(stem))
    if (!consonant) return true;
  return false;
}

bool ends_in_consonant(WordView stem) {
  return !stem.empty() && consonants(stem).back();
}

bool ends_in_double_consonant(WordView word) {
  return word.size() >= 2 && word.back() == word[word.size() - 2] && ends_in_consonant(word);
}

/// consonant, vowel, consonant other than w, x and y; or a word of a vowel and a consonant.
bool ends_short(WordView word) {
  const auto consonant = consonants(word);
  const size_t n = word.size();
  if (n == 2) return !consonant[0] && consonant[1];
  return n >= 3 && consonant[n - 3] && !consonant[n - 2] && consonant[n - 1] &&
         WordView(U"wxy").find(word.back()) == WordView::npos;
}

bool ends_in(WordView word, WordView suffix) {
  return word.ends_with(suffix);
}

Word without(const Word& word, WordView suffix) {
  return word.substr(0, word.size() - suffix.size());
}

Word with(Word stem, WordView ending) {
  return stem.append(ending);
}

struct SuffixRule {
  WordView suffix, replacement;
  size_t kept = 0;  // letters of the suffix that count for the measure of the stem
};

/// Applies the first rule whose suffix fits, if the measure of the stem is at least min_measure.
Word apply_first(const Word& word, std::span<const SuffixRule> rules, size_t min_measure) {
  for (const auto& rule : rules) {
    if (!ends_in(word, rule.suffix)) continue;
    const Word stem = without(word, rule.suffix);
    if (measure(word.substr(0, stem.size() + rule.kept)) < min_measure) return word;
    return with(stem, rule.replacement);
  }
  return word;
}

Word without_plural(const Word& word) {
  static constexpr std::array kRules{SuffixRule{U"sses", U"ss"}, SuffixRule{U"ies", U"i"}, SuffixRule{U"ss", U"ss"},
                                     SuffixRule{U"s", U""}};
  if (ends_in(word, U"ies") && word.size() == 4) return without(word, U"s");
  return apply_first(word, kRules, 0);
}

/// After -ed and -ing: hopp(ing) -> hop, conflat(ed) -> conflate, fil(ing) -> file.
Word with_ending_restored(const Word& stem) {
  for (const auto suffix : {U"at", U"bl", U"iz"})
    if (ends_in(stem, suffix)) return with(stem, U"e");
  if (ends_in_double_consonant(stem))
    return WordView(U"lsz").find(stem.back()) == WordView::npos ? stem.substr(0, stem.size() - 1) : stem;
  if (ends_in(stem, U"*d")) return with(without(stem, U"*d"), U"d");  // NLTK also reads its rule name as a suffix
  return measure(stem) == 1 && ends_short(stem) ? with(stem, U"e") : stem;
}

Word without_past(const Word& word) {
  if (ends_in(word, U"ied")) return without(word, word.size() == 4 ? U"d" : U"ed");
  if (ends_in(word, U"eed")) return measure(without(word, U"eed")) > 0 ? without(word, U"d") : word;
  for (const auto suffix : {U"ed", U"ing"})
    if (ends_in(word, suffix) && contains_vowel(without(word, suffix)))
      return with_ending_restored(without(word, suffix));
  return word;
}

Word with_final_i(const Word& word) {
  if (!ends_in(word, U"y")) return word;
  const Word stem = without(word, U"y");
  return stem.size() > 1 && ends_in_consonant(stem) ? with(stem, U"i") : word;
}

Word without_double_suffix(const Word& word) {
  static constexpr std::array kRules{
      SuffixRule{U"ational", U"ate"}, SuffixRule{U"tional", U"tion"}, SuffixRule{U"enci", U"ence"},
      SuffixRule{U"anci", U"ance"},   SuffixRule{U"izer", U"ize"},    SuffixRule{U"bli", U"ble"},
      SuffixRule{U"alli", U"al"},     SuffixRule{U"entli", U"ent"},   SuffixRule{U"eli", U"e"},
      SuffixRule{U"ousli", U"ous"},   SuffixRule{U"ization", U"ize"}, SuffixRule{U"ation", U"ate"},
      SuffixRule{U"ator", U"ate"},    SuffixRule{U"alism", U"al"},    SuffixRule{U"iveness", U"ive"},
      SuffixRule{U"fulness", U"ful"}, SuffixRule{U"ousness", U"ous"}, SuffixRule{U"aliti", U"al"},
      SuffixRule{U"iviti", U"ive"},   SuffixRule{U"biliti", U"ble"},  SuffixRule{U"fulli", U"ful"},
      SuffixRule{U"logi", U"log", 1}};
  if (ends_in(word, U"alli") && measure(without(word, U"alli")) > 0) return without_double_suffix(without(word, U"li"));
  return apply_first(word, kRules, 1);
}

Word without_adjective_suffix(const Word& word) {
  static constexpr std::array kRules{
      SuffixRule{U"icate", U"ic"}, SuffixRule{U"ative", U""}, SuffixRule{U"alize", U"al"}, SuffixRule{U"iciti", U"ic"},
      SuffixRule{U"ical", U"ic"},  SuffixRule{U"ful", U""},   SuffixRule{U"ness", U""}};
  return apply_first(word, kRules, 1);
}

Word without_last_suffix(const Word& word) {
  static constexpr std::array kRules{SuffixRule{U"al", U""},   SuffixRule{U"ance", U""}, SuffixRule{U"ence", U""},
                                     SuffixRule{U"er", U""},   SuffixRule{U"ic", U""},   SuffixRule{U"able", U""},
                                     SuffixRule{U"ible", U""}, SuffixRule{U"ant", U""},  SuffixRule{U"ement", U""},
                                     SuffixRule{U"ment", U""}, SuffixRule{U"ent", U""},  SuffixRule{U"ou", U""},
                                     SuffixRule{U"ism", U""},  SuffixRule{U"ate", U""},  SuffixRule{U"iti", U""},
                                     SuffixRule{U"ous", U""},  SuffixRule{U"ive", U""},  SuffixRule{U"ize", U""}};
  if (!ends_in(word, U"ion")) return apply_first(word, kRules, 2);
  const Word stem = without(word, U"ion");
  return measure(stem) > 1 && (stem.back() == U's' || stem.back() == U't') ? stem : word;
}

Word without_final_e(const Word& word) {
  if (!ends_in(word, U"e")) return word;
  const Word stem = without(word, U"e");
  const size_t m = measure(stem);
  return m > 1 || (m == 1 && !ends_short(stem)) ? stem : word;
}

Word without_double_l(const Word& word) {
  return ends_in(word, U"ll") && measure(without(word, U"l")) > 1 ? without(word, U"l") : word;
}

std::string_view irregular_stem(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kIrregular{{{"sky", "sky"},
                                                                                             {"skies", "sky"},
                                                                                             {"dying", "die"},
                                                                                             {"lying", "lie"},
                                                                                             {"tying", "tie"},
                                                                                             {"news", "news"},
                                                                                             {"innings", "inning"},
                                                                                             {"inning", "inning"},
                                                                                             {"outings", "outing"},
                                                                                             {"outing", "outing"},
                                                                                             {"cannings", "canning"},
                                                                                             {"canning", "canning"},
                                                                                             {"howe", "howe"},
                                                                                             {"proceed", "proceed"},
                                                                                             {"exceed", "exceed"},
                                                                                             {"succeed", "succeed"}}};
  for (const auto& [irregular, stem] : kIrregular)
    if (word == irregular) return stem;
  return "";
}

}  // namespace

std::string porter_stem(std::string_view word) {
  if (const auto stem = irregular_stem(word); !stem.empty()) return std::string(stem);
  Word stem = decoded(word);
  if (stem.size() <= 2) return std::string(word);
  for (const auto step : {without_plural, without_past, with_final_i, without_double_suffix, without_adjective_suffix,
                          without_last_suffix, without_final_e, without_double_l})
    stem = step(stem);
  return encoded(stem);
}

}  // namespace heed
