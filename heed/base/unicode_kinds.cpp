#include "heed/base/unicode_kinds.h"

#include <algorithm>
#include <array>

namespace heed {
namespace {

#include "heed/base/unicode_kinds.inl"

template <typename Ranges>
bool holds(const Ranges& ranges, char32_t c) {
  const auto range = std::lower_bound(ranges.begin(), ranges.end(), c,
                                      [](const CharacterRange& r, char32_t code) { return r.last < code; });
  return range != ranges.end() && range->first <= c;
}

}  // namespace

bool is_punctuation(char32_t character) {
  return holds(kPunctuation, character);
}
bool is_number(char32_t character) {
  return holds(kNumbers, character);
}
bool is_symbol(char32_t character) {
  return holds(kSymbols, character);
}

}  // namespace heed
