// Byte-pair encoding of one word (Sennrich et al., 2016): its characters, the last one with the end-of-word mark; then,
// as long as any two neighbors have a merge, the pair whose merge was learnt first becomes one, of equals the
// leftmost.

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
    size_t begin, bytes;  // where it stands in the word
  };

  /// Every part of a merge, and what it makes, is a piece; there are less than 2^32 of them.
  Merger(const PieceNumbers& numbers, const TokenizerSpec::Merges& merges, std::string end_of_word, int64_t unknown);

  /// A character that is no piece becomes `unknown`. Takes n log n, whatever the word.
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
