// Pieces by how often they occur, for the tokenizers whose pieces are there already and need only be chosen.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heed/base/spec.h"
#include "heed/data/tokenizer/spec.h"

namespace heed {

using TokenCounts = std::map<std::string, int64_t>;

/// The options vocabulary (how many pieces in all, the special ones among them; 0: as many as there are) and min_count.
struct Choice {
  std::string part;  // for messages: "tokenizer/words"
  int64_t vocabulary, min_count;

  explicit Choice(const Options& options);
  /// The special pieces, then the most frequent ones; of equals the smaller text. At least one of them, or an error.
  std::vector<std::string> pieces(const TokenCounts& counts) const;
};

/// Chunks of the lines that are no special pieces, counted.
TokenCounts count_chunks(const std::vector<std::string>& lines, const Replacement& normalize, bool split);

std::vector<std::string> special_pieces();

}  // namespace heed
