#include "apps/cli/torch/lengths.h"

#include <algorithm>

namespace heed::cli {
namespace {

void check_lengths(const Languages& languages, const Tokenizer& tokenizer, const std::vector<std::string>& lines,
                   const LinesOrigin& origin, int64_t max) {
  for (size_t i = 0; i < lines.size(); ++i)
    check_length(tokenizer, languages.prepared(lines[i]),
                 origin.name + ":" + std::to_string(origin.first + static_cast<int64_t>(i)), max, "raise --max-length");
}

}  // namespace

void check_source_lengths(const Translator& translator, const std::vector<std::string>& lines,
                          const LinesOrigin& origin, int64_t max) {
  check_lengths(translator.languages(), *translator.languages().source, lines, origin, max);
}

void check_target_lengths(const Translator& translator, const std::vector<std::string>& lines,
                          const LinesOrigin& origin, int64_t max) {
  check_lengths(translator.languages(), *translator.languages().target, lines, origin, max);
}

std::vector<std::string> lines_within(const Translator& translator, const std::vector<std::string>& lines,
                                      int64_t max) {
  const auto& languages = translator.languages();
  const auto too_long = [&](const std::string& line) {
    if (static_cast<int64_t>(line.size()) <= max) return false;
    return static_cast<int64_t>(languages.source->encode(languages.prepared(line)).size()) > max;
  };
  return {lines.begin(), std::find_if(lines.begin(), lines.end(), too_long)};
}

}  // namespace heed::cli
