// How long a sentence may be where it cannot be left out.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heed/data/tokenizer.h"

namespace heed {

/// Tokens of a sentence that is translated, aligned or judged, unless the user asks for more. Search takes as many
/// steps as there are words, and each looks at all of the input: a line without an end would take hours.
inline constexpr int64_t kMaxTokens = 1024;

/// Refuses a text of more tokens: "<where>: got 20000 tokens, expected at most 1024; break the line into sentences, or
/// <cure>".
void check_length(const Tokenizer& tokenizer, std::string_view text, const std::string& where, int64_t max,
                  const std::string& cure);

}  // namespace heed
