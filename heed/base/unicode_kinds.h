// The general categories of Unicode that the tokenizers need.

#pragma once

#include <algorithm>

namespace heed {

/// Characters from first to last.
struct CharacterRange {
  char32_t first, last;
};
template <typename Ranges>
bool in_any(const Ranges& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const CharacterRange& r) { return c >= r.first && c <= r.last; });
}

bool is_punctuation(char32_t character);  // P
bool is_number(char32_t character);       // N
bool is_symbol(char32_t character);       // S

}  // namespace heed
