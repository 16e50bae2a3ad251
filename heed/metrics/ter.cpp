#include "heed/metrics/ter.h"

#include <algorithm>
#include <array>

#include "heed/base/unicode_kinds.h"
#include "heed/base/utf8.h"
#include "heed/metrics/corpus.h"
#include "heed/metrics/text.h"
#include "heed/metrics/western.h"

namespace heed {
namespace {

bool is_asian_punctuation(char32_t c) {
  static constexpr std::array kRanges{
      CharacterRange{0x3001, 0x3002}, CharacterRange{0x3008, 0x3011}, CharacterRange{0x3014, 0x301F},
      CharacterRange{0x30FB, 0x30FB}, CharacterRange{0xFF61, 0xFF65}, CharacterRange{0xFF01, 0xFF02},
      CharacterRange{0xFF08, 0xFF09}, CharacterRange{0xFF0C, 0xFF0C}, CharacterRange{0xFF0E, 0xFF0E},
      CharacterRange{0xFF1A, 0xFF1B}, CharacterRange{0xFF1F, 0xFF1F}};
  return in_any(kRanges, c);
}

bool is_asian_apart(char32_t c) {
  static constexpr std::array kRanges{CharacterRange{0x2E80, 0x2EFF}, CharacterRange{0x31C0, 0x31EF},
                                      CharacterRange{0x3200, 0x4DBF}, CharacterRange{0x4E00, 0x9FFF},
                                      CharacterRange{0xF900, 0xFAFF}, CharacterRange{0xFE30, 0xFE4F}};
  return in_any(kRanges, c) || is_asian_punctuation(c);
}

std::string with_asian_apart(const std::string& text) {
  std::u32string all;
  for (const char32_t c : decoded(text)) is_asian_apart(c) ? all.append({U' ', c, U' '}) : all.append({c});
  return encoded(all);
}

std::string without_punctuation(const std::string& text, bool asian) {
  static constexpr std::u32string_view kPunctuation = U".,?:;!\"()";
  auto all = decoded(text);
  std::erase_if(all, [asian](char32_t c) {
    return kPunctuation.find(c) != std::u32string_view::npos || (asian && is_asian_punctuation(c));
  });
  return encoded(all);
}

std::string normalized_western(std::string text) {
  text = replaced(replaced(std::move(text), "\n-", ""), "\n", " ");
  text = with_punctuation_apart(" " + unescaped(std::move(text)) + " ");
  return with_points_apart(replaced(std::move(text), "'s ", " 's "));
}

std::vector<std::string> ter_tokens(const std::string& sentence, const TerOptions& options) {
  std::string text(without_trailing_whitespace(sentence));
  if (!options.case_sensitive) text = lower_cased(text);
  if (options.normalized) text = normalized_western(std::move(text));
  if (options.normalized && options.asian) text = with_asian_apart(text);
  if (options.no_punct) text = without_punctuation(text, options.asian);
  return split_words(text);
}

}  // namespace

double ter_of(const TerCounts& counts) {
  if (counts.reference_length > 0) return 100 * (static_cast<double>(counts.edits) / counts.reference_length);
  return counts.edits > 0 ? 100 : 0;
}

Ter ter(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
        const TerOptions& options) {
  check_corpus("ter", hypotheses, references);
  Ter all;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const auto ours = ter_tokens(hypotheses[i], options);
    int64_t fewest = INT64_MAX, length = 0;
    for (const auto& list : references) {
      const auto theirs = ter_tokens(list[i], options);
      fewest = std::min(fewest, edits_with_shifts(ours, theirs));
      length += static_cast<int64_t>(theirs.size());
    }
    all.sentences.push_back({fewest, static_cast<double>(length) / static_cast<double>(references.size())});
    all.edits += fewest;
    all.reference_length += all.sentences.back().reference_length;
  }
  all.score = ter_of({all.edits, all.reference_length});
  return all;
}

std::string signature(const TerOptions& options, size_t references) {
  const auto word = [](bool yes) { return yes ? "yes" : "no"; };
  return signed_as(references, {{"case", options.case_sensitive ? "mixed" : "lc"},
                                {"tok", "tercom"},
                                {"norm", word(options.normalized)},
                                {"punct", word(!options.no_punct)},
                                {"asian", word(options.asian)}});
}

}  // namespace heed
