#include "heed/metrics/chrf.h"

#include <algorithm>

#include "heed/base/utf8.h"
#include "heed/metrics/corpus.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/text.h"

namespace heed {
namespace {

/// The n-grams of a sentence, by order.
struct SentenceNgrams {
  std::vector<NgramCounts<std::u32string>> characters;
  std::vector<NgramCounts<std::string>> words;
};

/// Splits off one punctuation character at the end of each word or, if there is none, one at its beginning.
std::vector<std::string> with_outer_punctuation_apart(const std::string& text) {
  static constexpr std::u32string_view kPunctuation = U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  const auto is_punctuation = [](char32_t c) { return kPunctuation.find(c) != std::u32string_view::npos; };
  std::vector<std::string> all;
  for (const auto& word : split_words(text)) {
    const auto letters = decoded(word);
    const size_t split = letters.size() == 1              ? 0
                         : is_punctuation(letters.back()) ? letters.size() - 1
                                                          : is_punctuation(letters[0]);
    if (split > 0) all.push_back(encoded(letters.substr(0, split)));
    all.push_back(encoded(letters.substr(split)));
  }
  return all;
}

SentenceNgrams ngrams_of(const std::string& sentence, const ChrfOptions& options) {
  const std::string text = options.lowercase ? lower_cased(sentence) : sentence;
  SentenceNgrams all;
  auto characters = decoded(text);
  if (!options.whitespace) std::erase_if(characters, is_whitespace);
  for (size_t n = 1; n <= options.character_order; ++n) all.characters.push_back(character_ngrams(characters, n));
  if (options.word_order == 0) return all;
  const auto words = with_outer_punctuation_apart(text);
  for (size_t n = 1; n <= options.word_order; ++n) all.words.push_back(word_ngrams(words, n));
  return all;
}

template <typename Key>
ChrfOrderCounts compared(const NgramCounts<Key>& hypothesis, const NgramCounts<Key>& reference) {
  return {reference.empty() ? 0 : total(hypothesis), total(reference), matches(hypothesis, reference)};
}

ChrfCounts compared(const SentenceNgrams& hypothesis, const SentenceNgrams& reference) {
  ChrfCounts all;
  for (size_t n = 0; n < hypothesis.characters.size(); ++n)
    all.push_back(compared(hypothesis.characters[n], reference.characters[n]));
  for (size_t n = 0; n < hypothesis.words.size(); ++n) all.push_back(compared(hypothesis.words[n], reference.words[n]));
  return all;
}

ChrfCounts with_best_reference(const std::string& hypothesis, const std::vector<std::string>& references,
                               const ChrfOptions& options) {
  const SentenceNgrams ours = ngrams_of(hypothesis, options);
  ChrfCounts best;
  double best_score = -1;
  for (const auto& reference : references) {
    ChrfCounts ngrams = compared(ours, ngrams_of(reference, options));
    const double score = chrf_of(ngrams, options);
    if (score <= best_score) continue;
    best_score = score;
    best = std::move(ngrams);
  }
  return best;
}

}  // namespace

double chrf_of(const ChrfCounts& counts, const ChrfOptions& options) {
  double precision = 0, recall = 0, orders = 0;
  for (const auto& ngrams : counts) {
    if (ngrams.hypothesis == 0 || ngrams.reference == 0) continue;
    precision += static_cast<double>(ngrams.both) / static_cast<double>(ngrams.hypothesis);
    recall += static_cast<double>(ngrams.both) / static_cast<double>(ngrams.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  const auto factor = static_cast<double>(options.beta * options.beta);
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

Chrf chrf(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
          const ChrfOptions& options) {
  check_corpus("chrf", hypotheses, references);
  check(options.character_order + options.word_order > 0 && options.beta > 0, "metrics/chrf: orders ",
        options.character_order, " and ", options.word_order, ", beta ", options.beta, ", expected more than 0");
  ChrfCounts sum(options.character_order + options.word_order);
  Chrf all;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    all.sentences.push_back(with_best_reference(hypotheses[i], references_of(references, i), options));
    for (size_t n = 0; n < sum.size(); ++n) {
      const auto& ngrams = all.sentences.back()[n];
      sum[n].hypothesis += ngrams.hypothesis;
      sum[n].reference += ngrams.reference;
      sum[n].both += ngrams.both;
    }
  }
  all.score = chrf_of(sum, options);
  return all;
}

std::string chrf_name(const ChrfOptions& options) {
  return "chrF" + std::to_string(options.beta) + std::string(options.word_order, '+');
}

std::string signature(const ChrfOptions& options, size_t references) {
  return signed_as(references, {{"case", options.lowercase ? "lc" : "mixed"},
                                {"eff", "yes"},
                                {"nc", std::to_string(options.character_order)},
                                {"nw", std::to_string(options.word_order)},
                                {"space", options.whitespace ? "yes" : "no"}});
}

}  // namespace heed
