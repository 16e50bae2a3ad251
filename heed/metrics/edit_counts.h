// The edits that turn a reference sequence into a hypothesis (Levenshtein, 1966), by kind.
//
//   d_ij = min(d_{i-1,j-1} + [r_i != h_j],  d_{i-1,j} + 1,  d_{i,j-1} + 1)
//
// The number of edits is unique, its split into kinds is not: "a b" for "b c" is two substitutions, or a deletion and
// an insertion around a hit. The split is that of RapidFuzz, and so of jiwer: equal ends are hits, and the path from
// the last cell prefers a deletion, then a substitution, an insertion, a hit. The path is never stored: each cell has
// the substitutions of the path from the first cell to it, and with the lengths these give the other counts. RapidFuzz
// halves very long pairs (over 4 million cells) and may split their edits differently.
//
// Only diagonals that a path of at most t edits can reach are computed, for t = 64, 128, 256, ... until t edits
// suffice (Ukkonen, 1985). Time O(length x edits), memory O(min(edits, length)).

#pragma once

#include <cstdint>
#include <vector>

namespace heed {

/// Edits of one sequence; those of a corpus are the sum.
struct EditCounts {
  int64_t substitutions = 0;
  int64_t deletions = 0;   // items of the reference that the hypothesis lacks
  int64_t insertions = 0;  // items of the hypothesis that the reference lacks
  int64_t hits = 0;

  int64_t edits() const { return substitutions + deletions + insertions; }
  int64_t reference_length() const { return hits + substitutions + deletions; }
  int64_t hypothesis_length() const { return hits + substitutions + insertions; }
  EditCounts& operator+=(const EditCounts& other);
  bool operator==(const EditCounts&) const = default;
};

/// One number per distinct word, character or phone.
using Symbols = std::vector<int32_t>;

EditCounts edit_counts(const Symbols& hypothesis, const Symbols& reference);

}  // namespace heed
