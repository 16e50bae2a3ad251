#include "heed/base/utf8.h"

#include <locale.h>
#include <wctype.h>

namespace heed {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Character {
  char32_t code;
  size_t bytes;  // 0: invalid UTF-8
};

/// The first character of a non-empty text.
Character first(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {kReplacement, 0};
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {kReplacement, 0};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return {code, overlong || surrogate || code > 0x10FFFF ? 0 : bytes};
}

void append(std::string& text, char32_t c) {
  const auto put = [&](char32_t bits) { text += static_cast<char>(static_cast<unsigned char>(bits)); };
  const auto tail = [&](unsigned shift) { put(0x80U | (c >> shift & 0x3FU)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0U | c >> 6U);
    tail(0);
  } else if (c < 0x10000) {
    put(0xE0U | c >> 12U);
    tail(6);
    tail(0);
  } else {
    put(0xF0U | c >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

locale_t utf8_locale() {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);  // once, for the life of the program
  return utf8;
}

}  // namespace

size_t first_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = first(text.substr(at)).bytes;
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::string_view::npos;
}

std::u32string decoded(std::string_view text) {
  std::u32string characters;
  characters.reserve(text.size());
  while (!text.empty()) {
    const Character next = first(text);
    characters += next.bytes == 0 ? kReplacement : next.code;
    text.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
  }
  return characters;
}

std::string encoded(std::u32string_view characters) {
  std::string text;
  text.reserve(characters.size());
  for (const char32_t c : characters) append(text, c);
  return text;
}

std::string encoded(char32_t character) {
  return encoded(std::u32string_view(&character, 1));
}

char32_t lowered(char32_t character) {
  if (character < 0x80) return character >= U'A' && character <= U'Z' ? character + 32 : character;
  const locale_t utf8 = utf8_locale();
  return utf8 == nullptr ? character : static_cast<char32_t>(towlower_l(static_cast<wint_t>(character), utf8));
}

std::string lowered(std::string_view text) {
  std::u32string characters = decoded(text);
  for (auto& c : characters) c = lowered(c);
  return encoded(characters);
}

bool is_lowercase(char32_t c) {
  if (c < 0x80) return c >= U'a' && c <= U'z';
  const locale_t utf8 = utf8_locale();
  return utf8 != nullptr && iswlower_l(static_cast<wint_t>(c), utf8) != 0;
}

bool is_whitespace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace heed
