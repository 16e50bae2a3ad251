#include "heed/data/max_tokens.h"

#include "heed/base/check.h"

namespace heed {

void check_length(const Tokenizer& tokenizer, std::string_view text, const std::string& where, int64_t max,
                  const std::string& cure) {
  if (static_cast<int64_t>(text.size()) <= max) return;  // a token has at least one byte
  const auto tokens = static_cast<int64_t>(tokenizer.encode(text).size());
  check(tokens <= max, where, ": got ", tokens, " tokens, expected at most ", max,
        "; break the line into sentences, or ", cure);
}

}  // namespace heed
