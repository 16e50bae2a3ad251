// PSNR and SSIM against scikit-image on random and degenerate images. fixtures/image_scores.py writes
// fixtures/images.json.

#include "heed/metrics/image_quality.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using nlohmann::json;

Image filled(int64_t height, int64_t width, double value) {
  return {1, height, width, std::vector<double>(static_cast<size_t>(height * width), value)};
}

/// x_ij = 15 ((3 i + 5 j) mod 17), y_ij = min(255, x_ij + 4 (ij mod 5)), 13 x 13.
std::pair<Image, Image> golden_images() {
  Image x = filled(13, 13, 0), y = x;
  for (size_t i = 0; i < 13; ++i)
    for (size_t j = 0; j < 13; ++j) {
      const size_t at = 13 * i + j;
      x.values[at] = static_cast<double>(15 * ((3 * i + 5 * j) % 17));
      y.values[at] = std::min(255.0, x.values[at] + static_cast<double>(4 * (i * j % 5)));
    }
  return {x, y};
}

TEST(ImageQuality, HasTheGoldenNumbers) {
  const auto [x, y] = golden_images();
  EXPECT_NEAR(mean_squared_error(x, y), 70.16568047, 5e-9);
  EXPECT_NEAR(psnr(x, y, 255), 29.66955619, 5e-9);
  EXPECT_NEAR(ssim(x, y, 255), 0.99543484, 5e-9);
  EXPECT_NEAR(ssim(x, y, 255, SsimWindow::uniform), 0.99545768, 5e-9);
}

// MSE = 25.5^2 = R^2 / 100.
TEST(ImageQuality, OfATenthOfTheRangeIs20Decibels) {
  EXPECT_NEAR(psnr(filled(2, 3, 0), filled(2, 3, 25.5), 255), 20, 1e-12);
}

// Constant images have no variance: (2 mx my + C1) / (mx^2 + my^2 + C1) with mx = 0, my = 1, R = 1.
TEST(ImageQuality, OfConstantImagesComparesTheirMeans) {
  EXPECT_NEAR(ssim(filled(11, 11, 0), filled(11, 11, 1), 1), 1e-4 / (1 + 1e-4), 1e-12);
  EXPECT_EQ(ssim(filled(11, 11, 0), filled(11, 11, 0), 1), 1);
}

TEST(ImageQuality, MeansLeaveOutEqualImages) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(psnr(filled(1, 1, 3), filled(1, 1, 3), 255), kInfinite);
  const MeanPsnr found = mean_psnr({20, kInfinite, 30});
  EXPECT_EQ(found.mean, 25);
  EXPECT_EQ(found.images, 3);
  EXPECT_EQ(found.equal, 1);
  EXPECT_EQ(mean_psnr({kInfinite}).mean, kInfinite);
}

TEST(ImageQuality, RefusesWhatHasNoScore) {
  EXPECT_EQ(refusal([] { ssim(filled(10, 20, 0), filled(10, 20, 0), 255); }),
            "metrics/image_quality: got an image of height x width = 10 x 20, expected at least the 11 x 11 of the "
            "window");
  EXPECT_EQ(refusal([] { psnr(filled(2, 3, 0), filled(3, 2, 0), 255); }),
            "metrics/image_quality: got an image of channels x height x width = 1 x 2 x 3 for a reference of 1 x 3 x "
            "2, expected the same");
  EXPECT_EQ(
      refusal([] { psnr(filled(2, 3, 0), filled(2, 3, 0), 0); }),
      "metrics/image_quality: got the data range 0, expected a positive number: 255 for 8 bits, 1 for values from "
      "0 to 1");
  EXPECT_EQ(
      refusal([] { psnr(filled(0, 3, 0), filled(0, 3, 0), 255); }),
      "metrics/image_quality: got an image of channels x height x width = 1 x 0 x 3, expected at least one pixel");
  EXPECT_EQ(refusal([] {
              psnr({1, 1, 2, {0}}, filled(1, 2, 0), 255);
            }),
            "metrics/image_quality: got 1 values for an image of channels x height x width = 1 x 1 x 2, expected their "
            "product");
  EXPECT_EQ(refusal([] { psnr(filled(1, 1, std::nan("")), filled(1, 1, 0), 255); }),
            "metrics/image_quality: got the value nan in an image, expected finite values");
  EXPECT_EQ(refusal([] { parse_ssim_window("gauss"); }),
            "metrics/image_quality: got the window \"gauss\", expected wang or uniform");
  EXPECT_EQ(refusal([] { mean_psnr({}); }), "metrics/image_quality: got no images, expected at least one");
}

Image image(const json& one, const char* name) {
  const auto hex = one[name].get<std::string>();
  const auto scale = one["scale"].get<double>(), offset = one["offset"].get<double>();
  Image all{one["shape"].at(0), one["shape"].at(1), one["shape"].at(2), {}};
  for (size_t i = 0; i < hex.size(); i += 2)
    all.values.push_back(offset + scale * std::stoi(hex.substr(i, 2), nullptr, 16));
  return all;
}

/// Values of 1e4 with differences of 255 lose 8 of 16 digits in a variance; all others lose fewer.
void expect_ssim(const json& one, const char* name) {
  const Image found = image(one, "image"), reference = image(one, "reference");
  const auto window = parse_ssim_window(name);
  const auto score = [&] { return ssim(found, reference, one["range"], window); };
  if (one[name].is_null()) {
    EXPECT_THROW(score(), Error);
  } else {
    EXPECT_NEAR(score(), one[name].get<double>(), 1e-10);
  }
}

TEST(ImageQuality, IsThatOfScikitImage) {
  const json cases = json::parse(std::ifstream("heed/metrics/fixtures/images.json")).at("cases");
  EXPECT_GE(cases.size(), 200U);
  for (const auto& one : cases) {
    SCOPED_TRACE(one["note"]);
    const Image found = image(one, "image"), reference = image(one, "reference");
    const auto mse = one["mse"].get<double>();
    EXPECT_NEAR(mean_squared_error(found, reference), mse, 1e-12 * std::max(1.0, mse));
    const double decibels = psnr(found, reference, one["range"]);
    if (one["psnr"].is_null()) {
      EXPECT_TRUE(std::isinf(decibels));
    } else {
      EXPECT_NEAR(decibels, one["psnr"].get<double>(), 1e-10);
    }
    expect_ssim(one, "wang");
    expect_ssim(one, "uniform");
  }
}

}  // namespace
}  // namespace heed
