// Refuses lines that are too long for a model, before it spends hours on them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/max_tokens.h"
#include "heed/models/translate/translator.h"

namespace heed::cli {

/// File or option that lines come from, and the number of the first line.
struct LinesOrigin {
  std::string name;
  int64_t first = 1;
};

/// Throws on a line of more than max tokens and names its origin: "a.txt:3: got 20000 tokens, ...".
void check_source_lengths(const Translator& translator, const std::vector<std::string>& lines,
                          const LinesOrigin& origin, int64_t max);
void check_target_lengths(const Translator& translator, const std::vector<std::string>& lines,
                          const LinesOrigin& origin, int64_t max);

/// The source lines before the first one of more than max tokens.
std::vector<std::string> lines_within(const Translator& translator, const std::vector<std::string>& lines, int64_t max);

}  // namespace heed::cli
