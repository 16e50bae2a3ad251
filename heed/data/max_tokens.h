// The length limit of sentences that cannot be left out.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heed/data/tokenizer.h"

namespace heed {

/// Default limit on the tokens of a sentence that is translated, aligned or evaluated. Search takes a number of steps
/// proportional to the length, and each attends over the whole input: a very long line would take hours.
inline constexpr int64_t kMaxTokens = 1024;

/// Throws an Error if the text has more than `max` tokens: "<where>: got 20000 tokens, expected at most 1024; break the
/// line into sentences, or <cure>".
void check_length(const Tokenizer& tokenizer, std::string_view text, const std::string& where, int64_t max,
                  const std::string& cure);

}  // namespace heed
