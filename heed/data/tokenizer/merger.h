// Byte-pair encoding of one word (Sennrich et al., 2016). The word is split into characters, the last one with the
// end-of-word mark. Then the adjacent pair with the earliest learned merge is merged, the leftmost one in a tie, until
// no pair has a merge.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/data/tokenizer/spec.h"

namespace heed {

using PieceNumbers = std::unordered_map<std::string, int64_t>;

class Merger {
 public:
  struct Symbol {
    int64_t piece;
    size_t begin, bytes;  // byte range in the word
  };

  /// Both parts of a merge and its result must be pieces; there are fewer than 2^32 pieces.
  Merger(const PieceNumbers& numbers, const TokenizerSpec::Merges& merges, std::string end_of_word, int64_t unknown);

  /// A character that is not a piece becomes `unknown`. Takes O(n log n) time.
  std::vector<Symbol> symbols(std::string_view word) const;

 private:
  struct Merge {
    size_t rank;
    int64_t piece;
  };
  const Merge* merge_of(int64_t left, int64_t right) const;
  std::vector<Symbol> characters(std::string_view word) const;

  const PieceNumbers& numbers_;
  std::unordered_map<uint64_t, Merge> merges_;  // by left << 32 | right
  std::string end_of_word_;
  int64_t unknown_;
};

}  // namespace heed
