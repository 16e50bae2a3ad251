// UTF-8 to code points and back.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

/// Offset of the first byte that is not valid UTF-8, or npos. Overlong forms, surrogates and code points above U+10FFFF
/// are invalid.
size_t first_invalid_utf8(std::string_view text);

/// Code points of the text; an invalid byte becomes U+FFFD.
std::u32string decoded(std::string_view text);
std::string encoded(std::u32string_view characters);
std::string encoded(char32_t character);

/// Lowercase, one character for each character, by the tables of the C library's UTF-8 locale.
char32_t lowered(char32_t character);
std::string lowered(std::string_view text);

/// Whether the character is a lower-case letter, by the same tables.
bool is_lowercase(char32_t character);

/// Whether Python's str.split() treats the character as whitespace.
bool is_whitespace(char32_t character);

}  // namespace heed
