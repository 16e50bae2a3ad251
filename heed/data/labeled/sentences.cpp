#include "heed/data/labeled/sentences.h"

#include <algorithm>
#include <array>

#include "heed/base/utf8.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

using Text = std::u32string_view;

constexpr Text kEnds = U".!?…。！？", kWideEnds = U"。！？", kClosing = U"\"')]}”’»«」』】）》",
               kOpening = U"\"'([{“‘«「『【（《";
constexpr std::array<std::string_view, 24> kAbbreviations{"mr",  "mrs", "ms",  "messrs", "dr",   "prof", "st",  "mt",
                                                          "jr",  "sr",  "rev", "gen",    "col",  "capt", "lt",  "sgt",
                                                          "gov", "sen", "hon", "esq",    "ph.d", "vs",   "etc", "al"};

bool is_one_of(char32_t c, Text all) {
  return all.find(c) != Text::npos;
}
bool is_uppercase(char32_t c) {
  return lowered(c) != c;
}
bool is_cased(char32_t c) {
  return is_uppercase(c) || is_lowercase(c);
}

/// "U.S", "e.g": letters with a dot after each but the last.
bool is_letters_with_dots(Text word) {
  if (word.size() < 3 || word.size() % 2 == 0) return false;
  for (size_t i = 0; i < word.size(); ++i)
    if (i % 2 == 0 ? !is_cased(word[i]) : word[i] != U'.') return false;
  return true;
}

/// Whether a dot after this word belongs to it.
bool is_abbreviation(Text word) {
  while (!word.empty() && is_one_of(word.front(), kOpening)) word.remove_prefix(1);
  if (word.size() == 1) return is_uppercase(word[0]) && word[0] != U'I';
  const std::string plain = lowered(encoded(word));
  return is_letters_with_dots(word) ||
         std::find(kAbbreviations.begin(), kAbbreviations.end(), plain) != kAbbreviations.end();
}

/// Number of characters of the <br />, <br/> or <br> that the text begins with; 0 if there is none.
size_t line_break_length(Text text) {
  if (text.size() < 4 || text[0] != U'<' || lowered(text[1]) != U'b' || lowered(text[2]) != U'r') return 0;
  size_t at = 3;
  while (at < text.size() && text[at] == U' ') ++at;
  if (at < text.size() && text[at] == U'/') ++at;
  return at < text.size() && text[at] == U'>' ? at + 1 : 0;
}

void add_sentence(std::vector<std::string>& sentences, Text text) {
  while (!text.empty() && is_whitespace(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_whitespace(text.back())) text.remove_suffix(1);
  if (text.empty()) return;
  sentences.push_back(encoded(text));
  std::replace(sentences.back().begin(), sentences.back().end(), '\t', ' ');
}

/// The punctuation of an end from `at` to `end`, with what closes after it.
struct Punctuation {
  size_t at, end;
  bool wide = false;    // one of them is full-width
  bool is_dot = false;  // a single dot
};

Punctuation punctuation_at(Text text, size_t at) {
  Punctuation found{at, at};
  for (; found.end < text.size() && is_one_of(text[found.end], kEnds); ++found.end)
    found.wide = found.wide || is_one_of(text[found.end], kWideEnds);
  found.is_dot = found.end == at + 1 && text[at] == U'.';
  while (found.end < text.size() && is_one_of(text[found.end], kClosing)) ++found.end;
  return found;
}

/// Whether a sentence that begins at `begin` ends after the stop.
bool ends_sentence(Text text, size_t begin, const Punctuation& stop) {
  size_t next = stop.end;
  while (next < text.size() && is_whitespace(text[next])) ++next;
  if (next == text.size()) return true;
  if (!stop.wide && next == stop.end) return false;
  if (is_lowercase(text[next])) return false;
  size_t word = stop.at;
  while (word > begin && !is_whitespace(text[word - 1])) --word;
  return !stop.is_dot || !is_abbreviation(text.substr(word, stop.at - word));
}

}  // namespace

std::vector<std::string> sentences_by_rule(std::string_view document) {
  std::vector<std::string> sentences;
  const std::u32string characters = decoded(document);
  const Text text = characters;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    if (const size_t length = line_break_length(text.substr(at)); length > 0) {
      add_sentence(sentences, text.substr(begin, at - begin));
      begin = at += length;
    } else if (!is_one_of(text[at], kEnds)) {
      ++at;
    } else {
      const Punctuation stop = punctuation_at(text, at);
      at = stop.end;
      if (!ends_sentence(text, begin, stop)) continue;
      add_sentence(sentences, text.substr(begin, at - begin));
      begin = at;
    }
  }
  add_sentence(sentences, text.substr(begin));
  return sentences;
}

std::vector<std::string> sentences_by_tab(std::string_view document) {
  std::vector<std::string> sentences;
  for (const auto& field : fields_of(document, '\t')) add_sentence(sentences, decoded(field));
  return sentences;
}

}  // namespace heed
