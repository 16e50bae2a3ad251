// IoU of boxes in files.

#include <cmath>

#include "apps/cli/eval_metric/testing_files.h"
#include <gtest/gtest.h>

namespace heed::cli {
namespace {

using namespace testing_files;

// (0 0 4 3) and (2 1 6 5) share 2 x 2 of 12 + 16 - 4.
TEST(BoxesOfFiles, ShareAnArea) {
  EXPECT_NEAR(score("iou", {{"2 1 6 5"}, {"0 0 4 3"}}), 1. / 6, 1e-12);
  EXPECT_NEAR(score("iou", {{"2 1 6 5", "0 0 1 1"}, {"0\t0  4 3 ", "0 0 1 1"}}), (1. / 6 + 1) / 2, 1e-12);
}

TEST(BoxesOfFiles, WithoutAreaAreCountedAndLeftOut) {
  const auto found = json({"iou"}, {{"0 0 1 1", "1 1 1 1"}, {"0 0 1 1", "1 1 1 1"}})["iou"];
  EXPECT_DOUBLE_EQ(found["score"].get<double>(), 1);
  EXPECT_EQ(found["without_area"], 1);
  EXPECT_TRUE(std::isnan(score("iou", {{"1 1 1 1"}, {"2 2 2 2"}})));
}

// The second box has an IoU in b alone: both systems are compared on the first and the third.
TEST(BoxesOfFiles, WithoutAreaInOneSystemAreLeftOutOfAll) {
  const std::vector<Lines> files{
      {"0 0 2 2", "1 1 1 1", "0 0 1 1"}, {"0 0 2 1", "1 1 1 1", "0 0 1 1"}, {"0 0 2 2", "0 0 1 1", "0 0 1 1"}};
  auto o = options({"iou"}, files);
  o.significance.paired = "bootstrap";
  const auto found = json(o)["systems"];
  EXPECT_DOUBLE_EQ(found[0]["iou"]["score"].get<double>(), .75);
  EXPECT_DOUBLE_EQ(found[1]["iou"]["score"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(found[1]["iou"]["comparison"]["difference"].get<double>(), .25);
  EXPECT_EQ(found[1]["iou"]["left_out_of_all"], 1);
  EXPECT_EQ(found[1]["iou"]["without_area"], 0);
  EXPECT_NE(printed(o).find("\n1 of 3 boxes have no score in at least one system and are left out of all\n"),
            std::string::npos)
      << printed(o);
}

TEST(BoxesOfFiles, NameTheLineThatIsWrong) {
  EXPECT_EQ(problem({"iou"}, {{"0 0 1 1"}, {"0 0 1"}}),
            "eval: a:1: got 3 values in '0 0 1', expected 4 numbers, x1 y1 x2 y2 separated by spaces");
  EXPECT_EQ(problem({"iou"}, {{"0 0 1 1", ""}, {"0 0 1 1", "0 0 1 1"}}).substr(0, 33),
            "eval: gold:2: got 0 values in '',");
  EXPECT_EQ(
      problem({"iou"}, {{"0 0 1 1"}, {"2 0 1 1"}}),
      "eval: a:1: got the box '2 0 1 1', expected x1 <= x2 and y1 <= y2; x2 and y2 are edges, not width and height");
  EXPECT_EQ(problem({"iou"}, {{"0 0 1 1"}, {"0 0 1 nan"}}).substr(0, 50),
            "eval: a:1: got 'nan', expected 4 numbers, x1 y1 x2");
}

}  // namespace
}  // namespace heed::cli
