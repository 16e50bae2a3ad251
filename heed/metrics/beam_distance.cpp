#include "heed/metrics/beam_distance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heed {
namespace {

constexpr int32_t kInfinite = 1'000'000'000;
constexpr int64_t kBeam = 25;

}  // namespace

BeamDistance::BeamDistance(Words hypothesis, Words reference)
    : hypothesis_(std::move(hypothesis)), reference_(std::move(reference)) {
  const auto H = static_cast<double>(hypothesis_.size()), R = static_cast<double>(reference_.size());
  ratio_ = hypothesis_.empty() ? 1 : R / H;
  // Widens the beam if consecutive rows would otherwise have no column in common.
  beam_ = ratio_ / 2 > kBeam ? static_cast<int64_t>(std::ceil(ratio_ / 2 + kBeam)) : kBeam;
  rows_.assign(hypothesis_.size() + 1, CostRow(reference_.size() + 1, kInfinite));
  std::iota(rows_[0].begin(), rows_[0].end(), 0);
  trial_ = rows_;
  for (size_t i = 0; i < hypothesis_.size(); ++i) fill(i + 1, hypothesis_[i], rows_[i], rows_[i + 1]);
}

BeamDistance::Window BeamDistance::window(size_t row) const {
  const auto diagonal = static_cast<int64_t>(std::floor(static_cast<double>(row) * ratio_));
  const auto columns = static_cast<int64_t>(reference_.size()) + 1;
  const int64_t last = row == hypothesis_.size() ? columns : std::min(columns, diagonal + beam_);
  return {static_cast<size_t>(std::max<int64_t>(0, diagonal - beam_)), static_cast<size_t>(last)};
}

void BeamDistance::fill(size_t row, int word, const CostRow& above, CostRow& here) const {
  const auto [first, last] = window(row);
  std::fill(here.begin(), here.end(), kInfinite);
  if (first == 0) here[0] = above[0] + 1;
  for (size_t j = std::max<size_t>(first, 1); j < last; ++j)
    here[j] = std::min({above[j - 1] + (word == reference_[j - 1] ? 0 : 1), above[j] + 1, here[j - 1] + 1});
}

EditPath BeamDistance::path() const {
  size_t i = hypothesis_.size(), j = reference_.size();
  EditPath path{std::vector<int64_t>(j), std::vector<bool>(j), std::vector<bool>(i)};
  while (i > 0 || j > 0) {
    const bool equal = i > 0 && j > 0 && hypothesis_[i - 1] == reference_[j - 1];
    if (i > 0 && j > 0 && rows_[i][j] == rows_[i - 1][j - 1] + (equal ? 0 : 1)) {
      path.reference_wrong[j - 1] = path.hypothesis_wrong[i - 1] = !equal;
      path.position[--j] = static_cast<int64_t>(--i);
    } else if (i > 0 && rows_[i][j] == rows_[i - 1][j] + 1) {
      path.hypothesis_wrong[--i] = true;
    } else {
      path.reference_wrong[--j] = true;
      path.position[j] = static_cast<int64_t>(i) - 1;
    }
  }
  return path;
}

int64_t BeamDistance::distance_of(const Words& rearranged, size_t first, size_t last) {
  for (size_t i = first; i < rearranged.size(); ++i) {
    fill(i + 1, rearranged[i], i == first ? rows_[i] : trial_[i], trial_[i + 1]);
    if (i + 1 >= last && trial_[i + 1] == rows_[i + 1]) return distance();  // all later rows are equal too
  }
  return trial_.back().back();
}

void BeamDistance::move_to(Words rearranged) {
  hypothesis_ = std::move(rearranged);
  for (size_t i = 0; i < hypothesis_.size(); ++i) fill(i + 1, hypothesis_[i], rows_[i], rows_[i + 1]);
}

}  // namespace heed
