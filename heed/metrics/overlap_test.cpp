// Intersection over union computed by hand, and against scikit-learn on random and degenerate boxes and label maps.
// fixtures/overlap_scores.py writes fixtures/overlap.json.

#include "heed/metrics/overlap.h"

#include <cmath>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using nlohmann::json;
using Shares = std::vector<std::optional<double>>;

constexpr double kClose = 1e-12;  // one division each, and a mean of a few

// Boxes of 12 and 16 share 2 x 2: 4 / 24.
TEST(BoxIou, DividesSharedByCoveredArea) {
  EXPECT_NEAR(box_iou({0, 0, 4, 3}, {2, 1, 6, 5}).value(), 1. / 6, kClose);
  EXPECT_EQ(box_iou({0, 0, 2, 2}, {0, 0, 2, 2}), 1);
  EXPECT_EQ(box_iou({0, 0, 2, 2}, {2, 0, 4, 2}), 0);    // a common edge
  EXPECT_EQ(box_iou({-1, -1, 0, 0}, {5, 5, 9, 9}), 0);  // far apart on both axes
  EXPECT_EQ(box_iou({0.5, 0, 1, 1}, {0, 0, 1, 1}), 0.5);
}

TEST(BoxIou, IsUndefinedForTwoBoxesWithoutArea) {
  EXPECT_EQ(box_iou({1, 1, 1, 5}, {1, 1, 4, 1}), std::nullopt);
  EXPECT_EQ(box_iou({1, 1, 1, 5}, {0, 0, 4, 1}), 0);
}

TEST(BoxOverlap, LeavesOutAndCountsPairsWithoutArea) {
  const BoxOverlap found =
      box_overlap({{0, 0, 1, 1}, {0, 0, 0, 0}, {0, 0, 1, 2}}, {{0, 0, 1, 1}, {3, 3, 3, 3}, {0, 0, 1, 1}});
  EXPECT_EQ(found.boxes, (Shares{1, std::nullopt, 0.5}));
  EXPECT_EQ(found.mean, 0.75);
  EXPECT_EQ(found.pairs, 3);
  EXPECT_EQ(found.empty, 1);
  EXPECT_EQ(box_overlap({{0, 0, 0, 0}}, {{0, 0, 0, 0}}).mean, 0);
}

TEST(BoxIou, RefusesCornersInTheWrongOrder) {
  EXPECT_EQ(refusal([] {
              box_iou({0, 0, 1, 1}, {2, 0, 1, 1});
            }),
            "metrics/overlap: got the gold box 2 0 1 1, expected finite x1 y1 x2 y2 with x1 <= x2 and y1 <= y2");
  EXPECT_EQ(refusal([] {
              box_iou({0, 0, 1, std::nan("")}, {0, 0, 1, 1});
            }),
            "metrics/overlap: got the predicted box 0 0 1 nan, expected finite x1 y1 x2 y2 with x1 <= x2 and y1 <= y2");
  EXPECT_EQ(refusal([] {
              box_overlap({{0, 0, 1, 1}}, {});
            }),
            "metrics/overlap: got 1 predicted and 0 gold values, expected equal numbers");
}

//   gold 0 0 1 1 2 2   class 0: 1 of 3,   class 1: 2 of 3,   class 2: 1 of 2,   class 3 nowhere
//   ours 0 1 1 1 2 0   mean (1/3 + 2/3 + 1/2) / 3 = 1/2
TEST(MaskOverlap, IsTheMeanOverClassesThatOccur) {
  const MaskOverlap found = mask_overlap({{0, 1, 1, 1, 2, 0}}, {{0, 0, 1, 1, 2, 2}}, {.classes = 4});
  EXPECT_EQ(found.images[0].intersection, (std::vector<int64_t>{1, 2, 1, 0}));
  EXPECT_EQ(found.images[0].in_union, (std::vector<int64_t>{3, 3, 2, 0}));
  EXPECT_EQ(found.classes, (Shares{1. / 3, 2. / 3, 0.5, std::nullopt}));
  EXPECT_NEAR(found.mean, 0.5, kClose);
  EXPECT_EQ(found.empty, 1);
}

// Class 1: 1 of 1 and 0 of 3, together 1 of 4, not the mean of 1 and 0. Class 0: 1 of 1 and 1 of 4, together 2 of 5.
TEST(MaskOverlap, SumsCountsOverImages) {
  const MaskOverlap found = mask_overlap({{1, 0}, {0, 0, 0, 0}}, {{1, 0}, {1, 1, 1, 0}}, {.classes = 2});
  EXPECT_EQ(found.classes, (Shares{0.4, 0.25}));
  MaskCounts sum = found.images[0];
  sum += found.images[1];
  EXPECT_EQ(mask_overlap_of(sum).mean, found.mean);
}

TEST(MaskOverlap, OfNothingIsZeroAndCounted) {
  const MaskOverlap found = mask_overlap({{0, 1}}, {{255, 255}}, {.classes = 2, .ignored = 255});
  EXPECT_EQ(found.mean, 0);
  EXPECT_EQ(found.empty, 2);
  EXPECT_EQ(mask_overlap({{}}, {{}}, {.classes = 3}).empty, 3);
}

TEST(MaskOverlap, RefusesMasksThatDoNotFit) {
  EXPECT_EQ(refusal([] { mask_overlap({{0}}, {{2}}, {.classes = 2}); }),
            "metrics/overlap: got the gold class 2, expected 0 to 1");
  EXPECT_EQ(refusal([] { mask_overlap({{-1}}, {{0}}, {.classes = 2}); }),
            "metrics/overlap: got the predicted class -1, expected 0 to 1");
  EXPECT_EQ(refusal([] {
              mask_overlap({{0}}, {{0, 1}}, {.classes = 2});
            }),
            "metrics/overlap: got a predicted mask of 1 and a gold one of 2 pixels, expected equal numbers");
  EXPECT_EQ(refusal([] { mask_overlap({}, {}, {.classes = 2}); }),
            "metrics/overlap: got no examples, expected at least 1");
}

const json& fixture() {
  static const json all = json::parse(std::ifstream("heed/metrics/fixtures/overlap.json"));
  return all;
}

void expect_share(const std::optional<double>& found, const json& expected) {
  ASSERT_EQ(found.has_value(), !expected.is_null());
  if (found) {
    EXPECT_NEAR(*found, expected.get<double>(), kClose);
  }
}

Box box(const json& corners) {
  return {corners.at(0), corners.at(1), corners.at(2), corners.at(3)};
}

/// Digits.
std::vector<LabelMap> label_maps(const json& texts) {
  std::vector<LabelMap> all;
  for (const auto& text : texts) {
    all.emplace_back();
    for (const char c : text.get<std::string>()) all.back().push_back(c - '0');
  }
  return all;
}

TEST(BoxIou, IsThatOfScikitLearnOnPixels) {
  EXPECT_GE(fixture().at("boxes").size(), 200U);
  for (const auto& one : fixture().at("boxes")) {
    SCOPED_TRACE(one.dump());
    expect_share(box_iou(box(one.at(0)), box(one.at(1))), one.at(2));
  }
}

TEST(MaskOverlap, IsThatOfScikitLearn) {
  EXPECT_GE(fixture().at("masks").size(), 200U);
  for (const auto& one : fixture().at("masks")) {
    SCOPED_TRACE(one.dump());
    MaskOptions options{.classes = one["classes"]};
    if (one.contains("ignored")) options.ignored = one["ignored"].get<int64_t>();
    const auto found = mask_overlap(label_maps(one["predicted"]), label_maps(one["gold"]), options);
    EXPECT_NEAR(found.mean, one["mean"].get<double>(), kClose);
    for (size_t c = 0; c < found.classes.size(); ++c) expect_share(found.classes[c], one["each"].at(c));
  }
}

}  // namespace
}  // namespace heed
