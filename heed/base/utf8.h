// UTF-8 text as numbers of characters, and back.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

/// Where the first byte stands that does not belong to UTF-8 (overlong forms, surrogates and what lies beyond U+10FFFF
/// do not), or npos.
size_t first_invalid_utf8(std::string_view text);

/// Characters of the text; a byte that is not UTF-8 becomes U+FFFD.
std::u32string decoded(std::string_view text);
std::string encoded(std::u32string_view characters);
std::string encoded(char32_t character);

/// One lower-case character for one character, by the tables of the C library's UTF-8 locale.
char32_t lowered(char32_t character);
std::string lowered(std::string_view text);

/// What Python's str.split() takes for a blank: of ASCII, Latin-1 and the whitespace of other scripts.
bool is_whitespace(char32_t character);

}  // namespace heed
