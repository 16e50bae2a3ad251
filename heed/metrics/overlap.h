// Intersection over union (Jaccard index) of boxes and of label maps.
//
//   IoU = intersection / union
//   boxes   area (x2 - x1) (y2 - y1), without +1: coordinates are edges, not pixels
//   masks   of a class c: pixels that are c in both, by pixels that are c in either
//
// The mean over classes (mIoU) is of the counts summed over all images, and over the classes with a union > 0. Where
// the union is 0 (boxes without area, a class that occurs on neither side) there is no IoU: it is counted and left out.
// Per class it is scikit-learn's jaccard_score(average=None) of the pixels.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace heed {

struct Box {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;  // x1 <= x2, y1 <= y2
};

/// Nothing where both boxes have no area.
std::optional<double> box_iou(const Box& predicted, const Box& gold);

struct BoxOverlap {
  double mean = 0;                           // over the pairs with an IoU; 0 if there is none
  int64_t pairs = 0, empty = 0;              // empty: without an IoU
  std::vector<std::optional<double>> boxes;  // by pair
};

/// The box i of one side belongs to the box i of the other; at least one pair.
BoxOverlap box_overlap(const std::vector<Box>& predicted, const std::vector<Box>& gold);

/// Pixels of each class, of one image or summed.
struct MaskCounts {
  std::vector<int64_t> intersection, in_union;  // [classes]
  MaskCounts& operator+=(const MaskCounts& other);
};

/// The class of each pixel, 0 <= class < classes.
using LabelMap = std::vector<int64_t>;

struct MaskOptions {
  int64_t classes = 2;
  std::optional<int64_t> ignored{};  // pixels with this gold label are not counted (255 in Pascal VOC)
};

MaskCounts mask_counts(const LabelMap& predicted, const LabelMap& gold, const MaskOptions& options);

struct MaskOverlap {
  double mean = 0;                             // over the classes with an IoU; 0 if there is none
  int64_t empty = 0;                           // classes without an IoU
  std::vector<std::optional<double>> classes;  // by class
  std::vector<MaskCounts> images;              // what intervals resample
};

MaskOverlap mask_overlap_of(const MaskCounts& counts);

/// One label map of each side for each image, of the same number of pixels; at least one image.
MaskOverlap mask_overlap(const std::vector<LabelMap>& predicted, const std::vector<LabelMap>& gold,
                         const MaskOptions& options);

}  // namespace heed
