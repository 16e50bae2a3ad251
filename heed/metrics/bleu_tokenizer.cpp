#include "heed/metrics/bleu_tokenizer.h"

#include <algorithm>
#include <array>

#include "heed/base/check.h"
#include "heed/base/nearest.h"
#include "heed/base/unicode_kinds.h"
#include "heed/base/utf8.h"
#include "heed/metrics/text.h"
#include "heed/metrics/western.h"

namespace heed {
namespace {

std::vector<std::string> western(std::string_view line) {
  return split_words(with_points_apart(with_punctuation_apart(line)));
}

// mteval-v13a: decodes entities, drops <skipped>, then splits off western punctuation.
std::vector<std::string> mteval13a(std::string_view line) {
  auto text = replaced(std::string(without_trailing_whitespace(line)), "<skipped>", "");
  text = replaced(replaced(std::move(text), "-\n", ""), "\n", " ");
  return western(" " + unescaped(std::move(text)) + " ");
}

/// The characters that sacreBLEU treats as Chinese. Its list intends U+20000 to U+2A6D6, but its "\u20000" is U+2000
/// followed by a 0. The effective range is U+2001 to U+2A6D, which includes curly quotes and the dashes of western
/// texts. The list is kept as it is, so that scores are comparable.
bool is_chinese(char32_t c) {
  static constexpr std::array kRanges{
      CharacterRange{0x2001, 0x2A6D}, CharacterRange{0x2E80, 0x2EFF}, CharacterRange{0x2F00, 0x2FDF},
      CharacterRange{0x2FF0, 0x303F}, CharacterRange{0x3100, 0x312F}, CharacterRange{0x31A0, 0x31BF},
      CharacterRange{0x31C0, 0x31EF}, CharacterRange{0x3200, 0x33FF}, CharacterRange{0x3400, 0x4DB5},
      CharacterRange{0x4E00, 0x9FBB}, CharacterRange{0xF900, 0xFA2D}, CharacterRange{0xFA30, 0xFA6A},
      CharacterRange{0xFA70, 0xFAD9}, CharacterRange{0xFE10, 0xFE1F}, CharacterRange{0xFE30, 0xFE4F},
      CharacterRange{0xFF00, 0xFFEF}};
  return in_any(kRanges, c);
}

// Splits Chinese characters one by one and treats the rest as western text. A final period after a digit stays with it.
std::vector<std::string> chinese(std::string_view line) {
  std::u32string apart;
  for (const char32_t c : decoded(without_outer_whitespace(line))) {
    const bool alone = is_chinese(c);
    if (alone) apart += U' ';
    apart += c;
    if (alone) apart += U' ';
  }
  return western(encoded(apart));
}

// mteval-v14: splits off punctuation of any script unless it is between numbers (or ends the line after a number), and
// all symbols.
std::vector<std::string> international(std::string_view line) {
  std::u32string before, after, all;
  const std::u32string text = decoded(without_trailing_whitespace(line));
  for (size_t i = 0; i < text.size(); ++i) {
    before += text[i];
    if (i + 1 < text.size() && !is_number(text[i]) && is_punctuation(text[i + 1]))
      before.append({U' ', text[++i], U' '});
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (i + 1 == before.size() || !is_punctuation(before[i]) || is_number(before[i + 1])) {
      after += before[i];
    } else {
      after.append({U' ', before[i], U' ', before[i + 1]});
      ++i;
    }
  }
  for (const char32_t c : after) is_symbol(c) ? all.append({U' ', c, U' '}) : all.append({c});
  return split_words(encoded(all));
}

std::vector<std::string> characters(std::string_view line) {
  std::vector<std::string> all;
  for (const char32_t c : decoded(line))
    if (!is_whitespace(c)) all.push_back(encoded(c));
  return all;
}

struct Named {
  const char* name;
  BleuTokenizer tokenizer;
};
constexpr std::array kTokenizers{Named{"13a", mteval13a}, Named{"zh", chinese}, Named{"intl", international},
                                 Named{"char", characters}, Named{"none", split_words}};

}  // namespace

std::vector<std::string> bleu_tokenizers() {
  std::vector<std::string> names;
  names.reserve(kTokenizers.size());
  for (const auto& [name, tokenizer] : kTokenizers) names.emplace_back(name);
  return names;
}

BleuTokenizer bleu_tokenizer(const std::string& name) {
  for (const auto& [known, tokenizer] : kTokenizers)
    if (name == known) return tokenizer;
  fail("metrics/bleu: no tokenizer called '", name, "'", suggestion(name, bleu_tokenizers()),
       "; known: ", joined(bleu_tokenizers()));
}

}  // namespace heed
