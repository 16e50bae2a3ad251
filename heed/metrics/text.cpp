#include "heed/metrics/text.h"

#include <algorithm>
#include <clocale>
#include <cwctype>

#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr char32_t kDottedCapital = 0x130, kDotAbove = 0x307, kSigma = 0x3A3, kSmallSigma = 0x3C3, kFinalSigma = 0x3C2;

bool is_cased(char32_t c) {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);  // never freed
  if (lowered(c) != c) return true;
  return utf8 == nullptr ? c >= U'a' && c <= U'z' : iswlower_l(static_cast<wint_t>(c), utf8) != 0;
}

/// Case-ignorable characters, which do not end a word: apostrophes, inner periods, accents, combining marks.
bool is_passed_over(char32_t c) {
  static constexpr std::u32string_view kPoints = U"'.:^`\u00A8\u00AD\u00AF\u00B4\u00B7\u00B8\u2018\u2019\u2024\u2027";
  return kPoints.find(c) != std::u32string_view::npos || (c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200F);
}

/// Whether a letter precedes it and none follows it (Final_Sigma of Unicode).
bool is_last_of_word(const std::u32string& text, size_t at) {
  size_t before = at, after = at + 1;
  while (before > 0 && is_passed_over(text[before - 1])) --before;
  while (after < text.size() && is_passed_over(text[after])) ++after;
  return before > 0 && is_cased(text[before - 1]) && (after == text.size() || !is_cased(text[after]));
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  const std::u32string characters = decoded(text);
  for (auto begin = characters.begin(); true;) {
    begin = std::find_if_not(begin, characters.end(), is_whitespace);
    if (begin == characters.end()) return words;
    const auto end = std::find_if(begin, characters.end(), is_whitespace);
    words.push_back(encoded(std::u32string_view(begin, end)));
    begin = end;
  }
}

std::string_view without_trailing_whitespace(std::string_view text) {
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
    if (!is_whitespace(decoded(text.substr(begin))[0])) break;
    text = text.substr(0, begin);
  }
  return text;
}

std::string_view without_outer_whitespace(std::string_view text) {
  text = without_trailing_whitespace(text);
  while (!text.empty()) {
    size_t end = 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    if (!is_whitespace(decoded(text.substr(0, end))[0])) break;
    text.remove_prefix(end);
  }
  return text;
}

std::string lower_cased(std::string_view text) {
  const std::u32string characters = decoded(text);
  std::u32string lower;
  lower.reserve(characters.size());
  for (size_t i = 0; i < characters.size(); ++i) {
    const char32_t c = characters[i];
    lower += c == kSigma ? (is_last_of_word(characters, i) ? kFinalSigma : kSmallSigma) : lowered(c);
    if (c == kDottedCapital) lower += kDotAbove;
  }
  return encoded(lower);
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

std::string unescaped(std::string text) {
  if (text.find('&') == std::string::npos) return text;
  for (const auto& [name, character] : {std::pair{"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}})
    text = replaced(std::move(text), name, character);
  return text;
}

}  // namespace heed
