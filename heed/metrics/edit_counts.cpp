#include "heed/metrics/edit_counts.h"

#include <algorithm>
#include <cstdlib>
#include <span>

namespace heed {
namespace {

using View = std::span<const int32_t>;

constexpr int64_t kFirstLimit = 64;

/// A path from the first cell to this one.
struct Cell {
  int32_t edits = INT32_MAX / 2;
  int32_t substitutions = 0;
};

Cell last_step(const Cell& diagonal, const Cell& above, const Cell& left, bool equal) {
  const int32_t edits = std::min({diagonal.edits + (equal ? 0 : 1), above.edits + 1, left.edits + 1, INT32_MAX / 2});
  if (above.edits + 1 == edits) return {edits, above.substitutions};            // deletion
  if (diagonal.edits + 1 == edits) return {edits, diagonal.substitutions + 1};  // substitution
  if (left.edits + 1 == edits) return {edits, left.substitutions};              // insertion
  return {edits, diagonal.substitutions};                                       // hit
}

/// Column j of row i is stored at j - i - first_diagonal + 1; the cells around the band are infinite.
class Band {
 public:
  Band(View reference, View hypothesis, int64_t limit)
      : reference_(reference),
        hypothesis_(hypothesis),
        lengthening_(signed_size(hypothesis) - signed_size(reference)),
        first_(-(limit - std::abs(lengthening_)) / 2 + std::min<int64_t>(lengthening_, 0)),
        last_((limit - std::abs(lengthening_)) / 2 + std::max<int64_t>(lengthening_, 0)) {
    first_ = std::max(first_, -signed_size(reference));
    last_ = std::min(last_, signed_size(hypothesis));
    row_.resize(static_cast<size_t>(last_ - first_ + 3));
  }

  Cell last_cell() {
    at(0) = {0, 0};
    for (int64_t j = 1; j <= last_; ++j) at(j) = {static_cast<int32_t>(j), 0};
    for (int64_t i = 1; i <= signed_size(reference_); ++i) next_row(i);
    return at(lengthening_);
  }

 private:
  static int64_t signed_size(View view) { return static_cast<int64_t>(view.size()); }
  Cell& at(int64_t diagonal) { return row_[static_cast<size_t>(diagonal - first_ + 1)]; }

  void next_row(int64_t i) {
    const int64_t first_column = std::max<int64_t>(0, i + first_);
    const int64_t last_column = std::min(signed_size(hypothesis_), i + last_);
    at(first_column - i - 1) = Cell{};
    if (first_column == 0) at(-i) = {static_cast<int32_t>(i), 0};
    const int32_t symbol = reference_[static_cast<size_t>(i - 1)];
    for (int64_t j = std::max<int64_t>(1, first_column); j <= last_column; ++j) {
      Cell& cell = at(j - i);
      cell = last_step(cell, at(j - i + 1), at(j - i - 1), symbol == hypothesis_[static_cast<size_t>(j - 1)]);
    }
  }

  View reference_, hypothesis_;
  int64_t lengthening_, first_, last_;
  std::vector<Cell> row_;
};

size_t common_prefix(View one, View other) {
  return static_cast<size_t>(std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first - one.begin());
}

size_t common_suffix(View one, View other) {
  return static_cast<size_t>(std::mismatch(one.rbegin(), one.rend(), other.rbegin(), other.rend()).first -
                             one.rbegin());
}

/// A path within any band has at least as many edits as the cheapest one, so its number is a limit that suffices.
Cell cheapest_path(View reference, View hypothesis) {
  const auto longer = static_cast<int64_t>(std::max(reference.size(), hypothesis.size()));
  const auto shorter = static_cast<int64_t>(std::min(reference.size(), hypothesis.size()));
  for (int64_t limit = std::max(kFirstLimit, longer - shorter);;) {
    const Cell found = Band(reference, hypothesis, limit).last_cell();
    if (found.edits <= limit) return found;
    limit = std::min<int64_t>(2 * limit, found.edits);
  }
}

}  // namespace

EditCounts& EditCounts::operator+=(const EditCounts& other) {
  substitutions += other.substitutions;
  deletions += other.deletions;
  insertions += other.insertions;
  hits += other.hits;
  return *this;
}

EditCounts edit_counts(const Symbols& hypothesis, const Symbols& reference) {
  View ours = hypothesis, theirs = reference;
  const size_t prefix = common_prefix(ours, theirs);
  ours = ours.subspan(prefix), theirs = theirs.subspan(prefix);
  const size_t suffix = common_suffix(ours, theirs);
  ours = ours.first(ours.size() - suffix), theirs = theirs.first(theirs.size() - suffix);

  const Cell path = cheapest_path(theirs, ours);
  const auto lengthening = static_cast<int64_t>(ours.size()) - static_cast<int64_t>(theirs.size());
  EditCounts counts;
  counts.substitutions = path.substitutions;
  counts.insertions = (path.edits - path.substitutions + lengthening) / 2;
  counts.deletions = counts.insertions - lengthening;
  counts.hits = static_cast<int64_t>(reference.size()) - counts.substitutions - counts.deletions;
  return counts;
}

}  // namespace heed
