// PSNR, SSIM and mIoU of image files: single images, folders and lists.

#include <cmath>

#include "apps/cli/eval_metric/testing_files.h"
#include <gtest/gtest.h>

#include "heed/data/file.h"
#include "heed/train/run/testing_folder.h"

namespace heed::cli {
namespace {

using namespace testing_files;

class ImagesOfFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_.path(name);
    make_folders(path.substr(0, path.rfind('/')));
    write_atomically(path, text);
    return path;
  }
  /// A PGM of these values.
  std::string pgm(const std::string& name, int width, int height, const std::vector<int>& values, int max = 255) const {
    std::string text =
        "P2\n" + std::to_string(width) + " " + std::to_string(height) + "\n" + std::to_string(max) + "\n";
    for (const int value : values) text += std::to_string(value) + "\n";
    return write(name, text);
  }
  static EvalFilesOptions compare(const std::vector<std::string>& metrics, const std::vector<std::string>& images,
                                  const std::vector<std::string>& references) {
    EvalFilesOptions o;
    o.metrics = metrics;
    o.hypotheses = images;
    o.references = references;
    return o;
  }
  std::string path(const std::string& name) const { return folder_.path(name); }

 private:
  testing::Folder folder_;
};

/// The images of mechanisms.md: x_ij = 15 ((3i + 5j) mod 17), y_ij = min(255, x_ij + 4 (ij mod 5)).
struct Golden {
  std::vector<int> x, y;
  Golden() {
    for (int i = 0; i < 13; ++i)
      for (int j = 0; j < 13; ++j) {
        x.push_back(15 * ((3 * i + 5 * j) % 17));
        y.push_back(std::min(255, x.back() + 4 * (i * j % 5)));
      }
  }
};

TEST_F(ImagesOfFiles, HaveTheGoldenScores) {
  const Golden golden;
  auto o = compare({"psnr", "ssim"}, {pgm("x.pgm", 13, 13, golden.x)}, {pgm("y.pgm", 13, 13, golden.y)});
  auto found = json(o);
  EXPECT_NEAR(found["psnr"]["score"].get<double>(), 29.66955619, 1e-8);
  EXPECT_NEAR(found["ssim"]["score"].get<double>(), .99543484, 1e-8);
  EXPECT_EQ(found["ssim"]["signature"].get<std::string>().substr(0, 21), "window:wang|range:255");
  o.ssim_window = "uniform";
  o.metrics = {"ssim"};
  EXPECT_NEAR(score(o), .99545768, 1e-8);
  o.metrics = {"psnr"};
  o.data_range = 510;  // twice the range is 20 log10 2 more
  EXPECT_NEAR(score(o), 29.66955619 + 20 * std::log10(2), 1e-8);
}

// 255 of 255 is 0 dB, equal images have no PSNR.
TEST_F(ImagesOfFiles, AreLeftOutOfTheMeanOfPsnrIfEqual) {
  const auto black = pgm("black.pgm", 1, 1, {0}), white = pgm("white.pgm", 1, 1, {255});
  const auto found = json(compare({"psnr"}, {black, white}, {black, black}))["psnr"];
  EXPECT_DOUBLE_EQ(found["score"].get<double>(), 0);
  EXPECT_EQ(found["equal"], 1);
  const auto same = compare({"psnr"}, {black}, {black});
  EXPECT_NE(printed(same).find(" = infinite (images = 1 equal = 1)"), std::string::npos) << printed(same);
  EXPECT_TRUE(json(same)["psnr"]["score"].is_null());
}

// a is exact where b is worst: without that image both are equal.
TEST_F(ImagesOfFiles, AreLeftOutOfAllSystemsIfEqualInOne) {
  for (const int image : {1, 2}) pgm("gold/" + std::to_string(image) + ".pgm", 1, 1, {0});
  pgm("a/1.pgm", 1, 1, {0});
  pgm("a/2.pgm", 1, 1, {51});
  pgm("b/1.pgm", 1, 1, {255});
  pgm("b/2.pgm", 1, 1, {51});
  auto o = compare({"psnr"}, {path("a"), path("b")}, {path("gold")});
  o.significance.paired = "randomization";
  const auto found = json(o)["systems"];
  const double both = -20 * std::log10(51. / 255);
  for (const auto& system : found) EXPECT_NEAR(system["psnr"]["score"].get<double>(), both, 1e-12);
  EXPECT_DOUBLE_EQ(found[1]["psnr"]["comparison"]["difference"].get<double>(), 0);
  EXPECT_EQ(found[1]["psnr"]["left_out_of_all"], 1);
  EXPECT_NE(printed(o).find("1 of 2 images have no score in at least one system"), std::string::npos);
  o.hypotheses = {path("gold"), path("b")};
  EXPECT_TRUE(json(o)["systems"][1]["psnr"]["comparison"]["difference"].is_null());
  EXPECT_NE(printed(o).find("infinite"), std::string::npos);
}

TEST_F(ImagesOfFiles, AreTakenFromFoldersAndLists) {
  pgm("gold/1.pgm", 1, 1, {0});
  pgm("gold/2.pgm", 1, 1, {0});
  pgm("a/2.pgm", 1, 1, {255});
  pgm("a/1.pgm", 1, 1, {51});
  write("gold/notes.txt", "no image\n");
  const double mean = -20 * std::log10(51. / 255) / 2;
  EXPECT_NEAR(score(compare({"psnr"}, {path("a")}, {path("gold")})), mean, 1e-12);
  const auto list = write("list", "a/1.pgm\na/2.pgm\n");
  const auto both = json(compare({"psnr"}, {path("a"), list}, {path("gold")}));
  ASSERT_EQ(both["systems"].size(), 2U);
  EXPECT_NEAR(both["systems"][1]["psnr"]["score"].get<double>(), mean, 1e-12);
  EXPECT_EQ(both["provenance"]["data"].size(), 3U);
}

TEST_F(ImagesOfFiles, SayWhatDoesNotMatch) {
  const auto small = pgm("small.pgm", 1, 1, {0}), wide = pgm("wide.pgm", 2, 1, {0, 0}),
             few = pgm("few.pgm", 1, 1, {0}, 15);
  EXPECT_EQ(problem(compare({"psnr"}, {small}, {wide})), "eval: " + small +
                                                             ": got 1 x 1 pixels and 1 channel, expected those of " +
                                                             wide + ", 2 x 1 pixels and 1 channel");
  EXPECT_EQ(problem(compare({"psnr"}, {few}, {small})),
            "eval: " + few +
                ": got values up to 15 for a reference with values up to 255, expected one range for all; "
                "convert the images, or give --data-range if their values mean the same");
  EXPECT_EQ(problem(compare({"ssim"}, {small}, {small})),
            "eval: " + small + ": got 1 x 1 pixels, expected at least the 11 x 11 of the window wang");
  EXPECT_EQ(problem(compare({"psnr"}, {small, small}, {small})),
            "eval: got 2 images in " + small + " and 1 in " + small +
                ", expected equal numbers; systems to compare are folders or lists");
  EXPECT_EQ(problem(compare({"psnr"}, {small}, {})),
            "eval: images in " + small + " without references, expected an image, a folder or a list of them");
  EXPECT_EQ(
      problem(compare({"psnr"}, {path("none.pgm")}, {small})),
      "eval: " + path("none.pgm") + ": got no file of that name, expected an image, a folder or a list of images");
  pgm("gold/1.pgm", 1, 1, {0});
  pgm("a/2.pgm", 1, 1, {0});
  EXPECT_EQ(problem(compare({"psnr"}, {path("a")}, {path("gold")})),
            "eval: " + path("a") + " has no image called 1, expected one for each of " + path("gold") +
                "; images of two folders belong together by name");
  EXPECT_EQ(problem(compare({"psnr"}, {path("a"), small}, {small})),
            "eval: got " + path("a") + " and " + small +
                ", expected images alone, or folders and lists alone, one for each system");
  const auto list = write("list", "a/2.pgm\n\n");
  EXPECT_EQ(problem(compare({"psnr"}, {list}, {small})),
            "eval: " + list + ":2: got an empty line, expected the path of an image; remove it");
  write("empty/x.txt", "x");
  EXPECT_EQ(problem(compare({"psnr"}, {path("empty")}, {small})),
            "eval: " + path("empty") + ": got no PNG or PGM file, expected images in the folder");
}

// Class 0: 1 of 2 pixels, class 1: 1 of 3, class 3: 0 of 1; class 2 does not occur.
TEST_F(ImagesOfFiles, ShareClassesOfMasks) {
  const auto gold = pgm("gold.pgm", 2, 2, {0, 0, 1, 1}), a = pgm("a.pgm", 2, 2, {0, 1, 1, 3});
  auto o = compare({"miou"}, {a}, {gold});
  auto found = json(o)["miou"];
  EXPECT_NEAR(found["score"].get<double>(), (1. / 2 + 1. / 3 + 0) / 3, 1e-12);
  EXPECT_EQ(found["absent"], 1);
  EXPECT_NEAR(found["classes"]["1"].get<double>(), 1. / 3, 1e-12);
  o.ignore_class = 1;  // in gold: the other two pixels are 0, one of them right
  EXPECT_EQ(problem(o), "eval: " + a +
                            ": got the ignored class 1 where the reference has 0, expected a class; only pixels of the "
                            "reference are ignored");
  o = compare({"miou"}, {a}, {gold});
  o.classes = 3;
  EXPECT_EQ(
      problem(o),
      "eval: " + a +
          ": got the class 3, expected 0 to 2; give --classes, or --ignore-class 3 if such pixels are not counted");
  o = compare({"miou"}, {gold}, {a});
  o.ignore_class = 3;
  EXPECT_NEAR(score(o), (1. / 2 + 1. / 2) / 2, 1e-12);
  o = compare({"miou"}, {gold}, {pgm("none.pgm", 2, 2, {9, 9, 9, 9})});
  o.ignore_class = 9;
  EXPECT_DOUBLE_EQ(score(o), 0);
}

}  // namespace
}  // namespace heed::cli
