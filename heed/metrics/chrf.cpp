#include "heed/metrics/chrf.h"

#include <algorithm>

#include "heed/base/utf8.h"
#include "heed/metrics/corpus.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/text.h"

namespace heed {
namespace {

/// Of one order: runs of the hypotheses, of the references, and of both.
struct Runs {
  int64_t hypothesis = 0, reference = 0, both = 0;
};
using AllRuns = std::vector<Runs>;  // characters first, then words

/// A sentence as its runs of every order.
struct Taken {
  std::vector<Counts<std::u32string>> characters;
  std::vector<Counts<std::string>> words;
};

/// One mark at the end of a word stands alone, or else one at its beginning.
std::vector<std::string> with_outer_marks_apart(const std::string& text) {
  static constexpr std::u32string_view kMarks = U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  const auto is_mark = [](char32_t c) { return kMarks.find(c) != std::u32string_view::npos; };
  std::vector<std::string> all;
  for (const auto& word : split_words(text)) {
    const auto letters = decoded(word);
    const size_t cut = letters.size() == 1 ? 0 : is_mark(letters.back()) ? letters.size() - 1 : is_mark(letters[0]);
    if (cut > 0) all.push_back(encoded(letters.substr(0, cut)));
    all.push_back(encoded(letters.substr(cut)));
  }
  return all;
}

Taken taken(const std::string& sentence, const ChrfOptions& options) {
  const std::string text = options.lowercase ? lower_cased(sentence) : sentence;
  Taken all;
  auto characters = decoded(text);
  if (!options.whitespace) std::erase_if(characters, is_blank);
  for (size_t n = 1; n <= options.character_order; ++n) all.characters.push_back(character_ngrams(characters, n));
  if (options.word_order == 0) return all;
  const auto words = with_outer_marks_apart(text);
  for (size_t n = 1; n <= options.word_order; ++n) all.words.push_back(word_ngrams(words, n));
  return all;
}

template <typename Key>
Runs compared(const Counts<Key>& hypothesis, const Counts<Key>& reference) {
  return {reference.empty() ? 0 : total(hypothesis), total(reference), matches(hypothesis, reference)};
}

AllRuns compared(const Taken& hypothesis, const Taken& reference) {
  AllRuns all;
  for (size_t n = 0; n < hypothesis.characters.size(); ++n)
    all.push_back(compared(hypothesis.characters[n], reference.characters[n]));
  for (size_t n = 0; n < hypothesis.words.size(); ++n) all.push_back(compared(hypothesis.words[n], reference.words[n]));
  return all;
}

double score_of(const AllRuns& all, int64_t beta) {
  double precision = 0, recall = 0, orders = 0;
  for (const auto& runs : all) {
    if (runs.hypothesis == 0 || runs.reference == 0) continue;
    precision += static_cast<double>(runs.both) / static_cast<double>(runs.hypothesis);
    recall += static_cast<double>(runs.both) / static_cast<double>(runs.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  const auto factor = static_cast<double>(beta * beta);
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

AllRuns with_best_reference(const std::string& hypothesis, const std::vector<std::string>& references,
                            const ChrfOptions& options) {
  const Taken ours = taken(hypothesis, options);
  AllRuns best;
  double best_score = -1;
  for (const auto& reference : references) {
    AllRuns runs = compared(ours, taken(reference, options));
    const double score = score_of(runs, options.beta);
    if (score <= best_score) continue;
    best_score = score;
    best = std::move(runs);
  }
  return best;
}

}  // namespace

Chrf chrf(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
          const ChrfOptions& options) {
  check_corpus("chrf", hypotheses, references);
  check(options.character_order + options.word_order > 0 && options.beta > 0, "metrics/chrf: orders ",
        options.character_order, " and ", options.word_order, ", beta ", options.beta, ", expected more than 0");
  AllRuns sum(options.character_order + options.word_order);
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const auto runs = with_best_reference(hypotheses[i], references_of(references, i), options);
    for (size_t n = 0; n < sum.size(); ++n) {
      sum[n].hypothesis += runs[n].hypothesis;
      sum[n].reference += runs[n].reference;
      sum[n].both += runs[n].both;
    }
  }
  return {score_of(sum, options.beta)};
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
