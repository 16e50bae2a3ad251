// Edit distance (insert, delete, replace a word: 1 each) near the diagonal, as tercom and sacreBLEU bound it.
//
//   d_ij = min(d_{i-1,j-1} + [h_i != r_j],  d_{i-1,j} + 1,  d_{i,j-1} + 1),   |j - floor(i R / H)| within the beam
//
// What is outside the beam is infinite, so the distance of very different sentences is above the true one. Hypotheses
// that differ from the one in hand by a rearrangement are measured from the first word that moved.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heed {

/// How a hypothesis is rewritten into its reference.
struct EditPath {
  std::vector<int64_t> position;  // for each reference word: of the hypothesis word it stands on, -1: before all
  std::vector<bool> reference_wrong, hypothesis_wrong;  // words that are not matched by an equal one
};

class BeamDistance {
 public:
  using Words = std::vector<int>;  // equal numbers are equal words

  BeamDistance(Words hypothesis, Words reference);

  int64_t distance() const { return rows_.back().back(); }
  const Words& hypothesis() const { return hypothesis_; }
  EditPath path() const;

  /// Distance of an arrangement of the same words that is equal before `first` and from `last` on.
  int64_t distance_of(const Words& rearranged, size_t first, size_t last);
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
  std::vector<CostRow> trial_;  // of distance_of
};

}  // namespace heed
