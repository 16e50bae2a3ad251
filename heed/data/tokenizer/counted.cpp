#include "heed/data/tokenizer/counted.h"

#include <algorithm>
#include <unordered_map>

#include "heed/base/check.h"

namespace heed {

Choice::Choice(const Options& options)
    : part(options.part()), vocabulary(options.integer("vocabulary", 0)), min_count(options.integer("min_count", 1)) {
  check(vocabulary == 0 || vocabulary > static_cast<int64_t>(kSpecialPieces.size()), options.part(), ": vocabulary is ",
        vocabulary, ", expected more than the 4 special pieces, or 0 for as many as there are");
  check(min_count >= 1, options.part(), ": min_count is ", min_count, ", expected 1 or more");
}

std::vector<std::string> Choice::pieces(const TokenCounts& counts) const {
  std::vector<std::pair<int64_t, std::string>> found;
  for (const auto& [text, count] : counts) {
    if (count >= min_count) found.emplace_back(-count, text);
  }
  check(!found.empty() || counts.empty(), part, ": min_count is ", min_count, ", but none of ", counts.size(),
        " different ones occurs so often; lower it");
  std::sort(found.begin(), found.end());
  auto all = special_pieces();
  for (auto& [count, text] : found) {
    if (vocabulary > 0 && static_cast<int64_t>(all.size()) == vocabulary) break;
    all.push_back(std::move(text));
  }
  return all;
}

TokenCounts count_chunks(const std::vector<std::string>& lines, const Replacement& normalize,
                         TokenizerSpec::Split split) {
  std::unordered_map<std::string, int64_t> counts;
  for (const auto& line : lines) {
    for (auto& chunk : chunks(line, normalize, split)) {
      if (chunk.special < 0) ++counts[std::move(chunk.text)];
    }
  }
  return {counts.begin(), counts.end()};
}

std::vector<std::string> special_pieces() {
  return {kSpecialPieces.begin(), kSpecialPieces.end()};
}

}  // namespace heed
