// Word edit distance (insertion, deletion, substitution: 1 each) within a beam around the diagonal, as in tercom and
// sacreBLEU.
//
//   d_ij = min(d_{i-1,j-1} + [h_i != r_j],  d_{i-1,j} + 1,  d_{i,j-1} + 1),   |j - floor(i R / H)| within the beam
//
// Cells outside the beam are infinite, so the distance of very different sentences exceeds the exact one. The distance
// of a rearranged hypothesis is computed from the first word that moved.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heed {

/// The edits that turn a hypothesis into its reference.
struct EditPath {
  std::vector<int64_t> position;  // per reference word: its hypothesis word, or the one before; -1: none
  std::vector<bool> reference_wrong, hypothesis_wrong;  // per word: not aligned to an equal word
};

class BeamDistance {
 public:
  using Words = std::vector<int>;  // one number per distinct word

  BeamDistance(Words hypothesis, Words reference);

  int64_t distance() const { return rows_.back().back(); }
  const Words& hypothesis() const { return hypothesis_; }
  EditPath path() const;

  /// Distance of a permutation of the hypothesis that differs from it only in words [first, last).
  int64_t distance_of(const Words& rearranged, size_t first, size_t last);
  /// Replaces the hypothesis by a permutation of it.
  void move_to(Words rearranged);

 private:
  using CostRow = std::vector<int32_t>;
  struct Window {
    size_t first, last;  // columns first .. last - 1
  };
  Window window(size_t row) const;
  void fill(size_t row, int word, const CostRow& above, CostRow& here) const;

  Words hypothesis_, reference_;
  double ratio_;
  int64_t beam_;
  std::vector<CostRow> rows_;   // [H + 1][R + 1]
  std::vector<CostRow> trial_;  // cost rows of distance_of()
};

}  // namespace heed
