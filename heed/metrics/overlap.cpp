#include "heed/metrics/overlap.h"

#include <algorithm>
#include <cmath>

#include "heed/metrics/examples.h"

namespace heed {
namespace {

void check_box(const char* kind, const Box& box) {
  const bool finite = std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) && std::isfinite(box.y2);
  check(finite && box.x1 <= box.x2 && box.y1 <= box.y2, "metrics/overlap: got the ", kind, " box ", box.x1, " ", box.y1,
        " ", box.x2, " ", box.y2, ", expected finite x1 y1 x2 y2 with x1 <= x2 and y1 <= y2");
}

double area(const Box& box) {
  return (box.x2 - box.x1) * (box.y2 - box.y1);
}

double shared_area(const Box& one, const Box& other) {
  const double width = std::min(one.x2, other.x2) - std::max(one.x1, other.x1);
  const double height = std::min(one.y2, other.y2) - std::max(one.y1, other.y1);
  return std::max(0.0, width) * std::max(0.0, height);
}

void check_label(const char* kind, int64_t label, int64_t classes) {
  check(label >= 0 && label < classes, "metrics/overlap: got the ", kind, " class ", label, ", expected 0 to ",
        classes - 1);
}

struct MeanOfSome {
  double mean = 0;
  int64_t left_out = 0;
};

MeanOfSome mean_of_some(const std::vector<std::optional<double>>& values) {
  double sum = 0;
  int64_t left_out = 0;
  for (const auto& value : values) {
    sum += value.value_or(0);
    left_out += value ? 0 : 1;
  }
  const auto count = static_cast<int64_t>(values.size()) - left_out;
  return {count == 0 ? 0 : sum / static_cast<double>(count), left_out};
}

}  // namespace

std::optional<double> box_iou(const Box& predicted, const Box& gold) {
  check_box("predicted", predicted);
  check_box("gold", gold);
  const double shared = shared_area(predicted, gold);
  const double whole = area(predicted) + area(gold) - shared;
  if (whole <= 0) return std::nullopt;
  return shared / whole;
}

BoxOverlap box_overlap(const std::vector<Box>& predicted, const std::vector<Box>& gold) {
  check_examples("overlap", predicted.size(), gold.size());
  BoxOverlap all;
  all.pairs = static_cast<int64_t>(gold.size());
  for (size_t i = 0; i < gold.size(); ++i) all.boxes.push_back(box_iou(predicted[i], gold[i]));
  const auto [mean, left_out] = mean_of_some(all.boxes);
  all.mean = mean;
  all.empty = left_out;
  return all;
}

MaskCounts& MaskCounts::operator+=(const MaskCounts& other) {
  intersection.resize(std::max(intersection.size(), other.intersection.size()));
  in_union.resize(intersection.size());
  for (size_t c = 0; c < other.intersection.size(); ++c) {
    intersection[c] += other.intersection[c];
    in_union[c] += other.in_union[c];
  }
  return *this;
}

MaskCounts mask_counts(const LabelMap& predicted, const LabelMap& gold, const MaskOptions& options) {
  check(options.classes > 0, "metrics/overlap: got ", options.classes, " classes, expected at least 1");
  check(predicted.size() == gold.size(), "metrics/overlap: got a predicted mask of ", predicted.size(),
        " and a gold one of ", gold.size(), " pixels, expected equal numbers");
  const std::vector<int64_t> zeros(static_cast<size_t>(options.classes));
  MaskCounts counts{zeros, zeros};
  for (size_t i = 0; i < gold.size(); ++i) {
    if (options.ignored == gold[i]) continue;
    check_label("gold", gold[i], options.classes);
    check_label("predicted", predicted[i], options.classes);
    const auto ours = static_cast<size_t>(predicted[i]), theirs = static_cast<size_t>(gold[i]);
    ++counts.in_union[theirs];
    if (ours == theirs) {
      ++counts.intersection[theirs];
    } else {
      ++counts.in_union[ours];
    }
  }
  return counts;
}

MaskOverlap mask_overlap_of(const MaskCounts& counts) {
  MaskOverlap all;
  for (size_t c = 0; c < counts.in_union.size(); ++c) {
    std::optional<double> iou;
    if (counts.in_union[c] > 0)
      iou = static_cast<double>(counts.intersection[c]) / static_cast<double>(counts.in_union[c]);
    all.classes.push_back(iou);
  }
  const auto [mean, left_out] = mean_of_some(all.classes);
  all.mean = mean;
  all.empty = left_out;
  return all;
}

MaskOverlap mask_overlap(const std::vector<LabelMap>& predicted, const std::vector<LabelMap>& gold,
                         const MaskOptions& options) {
  check_examples("overlap", predicted.size(), gold.size());
  MaskCounts sum;
  std::vector<MaskCounts> images;
  for (size_t i = 0; i < gold.size(); ++i) {
    images.push_back(mask_counts(predicted[i], gold[i], options));
    sum += images.back();
  }
  MaskOverlap all = mask_overlap_of(sum);
  all.images = std::move(images);
  return all;
}

}  // namespace heed
