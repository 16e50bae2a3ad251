// Lines that are too long for a model, refused before it spends hours on them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/max_tokens.h"
#include "heed/models/translate/translator.h"

namespace heed::cli {

/// The origin of lines, and the number of the first.
struct LinesOrigin {
  std::string name;
  int64_t first = 1;
};

/// Refuses a line of more than max tokens with its origin: "a.txt:3: got 20000 tokens, ...".
void check_source_lengths(const Translator& translator, const std::vector<std::string>& lines,
                          const LinesOrigin& origin, int64_t max);
void check_target_lengths(const Translator& translator, const std::vector<std::string>& lines,
                          const LinesOrigin& origin, int64_t max);

/// The lines before the first source line that is too long.
std::vector<std::string> lines_within(const Translator& translator, const std::vector<std::string>& lines, int64_t max);

}  // namespace heed::cli
