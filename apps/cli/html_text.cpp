#include "apps/cli/html_text.h"

#include "apps/cli/screen.h"

#include "heed/base/utf8.h"

namespace heed::cli {
namespace {

/// Embeddings, overrides and isolates, which would change the direction of the text after them.
bool changes_direction(char32_t character) {
  return (character >= 0x202A && character <= 0x202E) || (character >= 0x2066 && character <= 0x2069);
}

std::string with_visible_directions(const std::string& text) {
  constexpr char32_t kReplacement = 0xFFFD;
  std::u32string characters = decoded(text);
  for (char32_t& character : characters)
    if (changes_direction(character)) character = kReplacement;
  return encoded(characters);
}

}  // namespace

std::string html_text(const std::string& text) {
  std::string out;
  for (const char letter : with_visible_directions(printable(text))) switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += letter;
    }
  return out;
}

}  // namespace heed::cli
