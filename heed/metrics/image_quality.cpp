#include "heed/metrics/image_quality.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr double kGaussianSigma = 1.5;
constexpr int64_t kGaussianTaps = 11, kUniformTaps = 7;

std::string shape(const Image& image) {
  return std::to_string(image.channels) + " x " + std::to_string(image.height) + " x " + std::to_string(image.width);
}

void check_image(const char* kind, const Image& image) {
  check(image.channels > 0 && image.height > 0 && image.width > 0, "metrics/image_quality: got ", kind,
        " of channels x height x width = ", shape(image), ", expected at least one pixel");
  check(static_cast<int64_t>(image.values.size()) == image.channels * image.height * image.width,
        "metrics/image_quality: got ", image.values.size(), " values for ", kind,
        " of channels x height x width = ", shape(image), ", expected their product");
  for (const double value : image.values)
    check(std::isfinite(value), "metrics/image_quality: got the value ", value, " in ", kind,
          ", expected finite values");
}

void check_images(const Image& image, const Image& reference) {
  check_image("an image", image);
  check_image("a reference", reference);
  check(image.channels == reference.channels && image.height == reference.height && image.width == reference.width,
        "metrics/image_quality: got an image of channels x height x width = ", shape(image), " for a reference of ",
        shape(reference), ", expected the same");
}

void check_range(double data_range) {
  check(std::isfinite(data_range) && data_range > 0, "metrics/image_quality: got the data range ", data_range,
        ", expected a positive number: 255 for 8 bits, 1 for values from 0 to 1");
}

/// Weights of a window along one axis; they sum to 1.
std::vector<double> window_taps(SsimWindow window) {
  std::vector<double> taps(static_cast<size_t>(ssim_window_size(window)), 1);
  const auto center = static_cast<double>(taps.size() - 1) / 2;
  if (window == SsimWindow::wang)
    for (size_t i = 0; i < taps.size(); ++i) {
      const double distance = (static_cast<double>(i) - center) / kGaussianSigma;
      taps[i] = std::exp(-distance * distance / 2);
    }
  const double sum = std::accumulate(taps.begin(), taps.end(), 0.0);
  for (double& tap : taps) tap /= sum;
  return taps;
}

/// One channel, or its weighted means over windows.
struct Plane {
  int64_t height, width;
  std::vector<double> values;
};

/// Weighted sums of `taps` values at a stride, at positions where all of them exist.
Plane filtered(const Plane& plane, const std::vector<double>& taps, bool vertical) {
  const auto margin = static_cast<int64_t>(taps.size()) - 1;
  const int64_t height = plane.height - (vertical ? margin : 0), width = plane.width - (vertical ? 0 : margin);
  const int64_t stride = vertical ? plane.width : 1;
  Plane means{height, width, std::vector<double>(static_cast<size_t>(height * width))};
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const double* at = &plane.values[static_cast<size_t>(y * plane.width + x)];
      double sum = 0;
      for (size_t t = 0; t < taps.size(); ++t) sum += taps[t] * at[static_cast<int64_t>(t) * stride];
      means.values[static_cast<size_t>(y * width + x)] = sum;
    }
  return means;
}

Plane window_means(const Plane& plane, const std::vector<double>& taps) {
  return filtered(filtered(plane, taps, false), taps, true);
}

Plane product(const Plane& one, const Plane& other) {
  Plane all = one;
  for (size_t i = 0; i < all.values.size(); ++i) all.values[i] *= other.values[i];
  return all;
}

Plane channel(const Image& image, int64_t c) {
  const auto begin = image.values.begin() + c * image.height * image.width;
  return {image.height, image.width, {begin, begin + image.height * image.width}};
}

/// Factor from a variance divided by N, the number of values in a window, to that of the setting.
double variance_factor(SsimWindow window) {
  constexpr double kValues = kUniformTaps * kUniformTaps;
  return window == SsimWindow::uniform ? kValues / (kValues - 1) : 1;
}

double ssim_of_planes(const Plane& x, const Plane& y, double data_range, SsimWindow window) {
  const auto taps = window_taps(window);
  const Plane mean_x = window_means(x, taps), mean_y = window_means(y, taps);
  const Plane mean_xx = window_means(product(x, x), taps), mean_yy = window_means(product(y, y), taps);
  const Plane mean_xy = window_means(product(x, y), taps);
  const double factor = variance_factor(window);
  const double c1 = 0.01 * data_range * 0.01 * data_range, c2 = 0.03 * data_range * 0.03 * data_range;
  double sum = 0;
  for (size_t i = 0; i < mean_x.values.size(); ++i) {
    const double mx = mean_x.values[i], my = mean_y.values[i];
    const double variance_x = factor * (mean_xx.values[i] - mx * mx);
    const double variance_y = factor * (mean_yy.values[i] - my * my);
    const double covariance = factor * (mean_xy.values[i] - mx * my);
    sum += (2 * mx * my + c1) * (2 * covariance + c2) / ((mx * mx + my * my + c1) * (variance_x + variance_y + c2));
  }
  return sum / static_cast<double>(mean_x.values.size());
}

}  // namespace

SsimWindow parse_ssim_window(const std::string& word) {
  check(word == "wang" || word == "uniform", "metrics/image_quality: got the window \"", word,
        "\", expected wang or uniform");
  return word == "wang" ? SsimWindow::wang : SsimWindow::uniform;
}

int64_t ssim_window_size(SsimWindow window) {
  return window == SsimWindow::wang ? kGaussianTaps : kUniformTaps;
}

double mean_squared_error(const Image& image, const Image& reference) {
  check_images(image, reference);
  double sum = 0;
  for (size_t i = 0; i < image.values.size(); ++i) {
    const double difference = image.values[i] - reference.values[i];
    sum += difference * difference;
  }
  return sum / static_cast<double>(image.values.size());
}

double psnr(const Image& image, const Image& reference, double data_range) {
  check_range(data_range);
  const double error = mean_squared_error(image, reference);
  if (error == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(data_range * data_range / error);
}

double ssim(const Image& image, const Image& reference, double data_range, SsimWindow window) {
  check_range(data_range);
  check_images(image, reference);
  const int64_t side = ssim_window_size(window);
  check(image.height >= side && image.width >= side,
        "metrics/image_quality: got an image of height x width = ", image.height, " x ", image.width,
        ", expected at least the ", side, " x ", side, " of the window");
  double sum = 0;
  for (int64_t c = 0; c < image.channels; ++c)
    sum += ssim_of_planes(channel(image, c), channel(reference, c), data_range, window);
  return sum / static_cast<double>(image.channels);
}

MeanPsnr mean_psnr(const std::vector<double>& values) {
  check(!values.empty(), "metrics/image_quality: got no images, expected at least one");
  MeanPsnr all;
  all.images = static_cast<int64_t>(values.size());
  double sum = 0;
  for (const double value : values) {
    check(!std::isnan(value), "metrics/image_quality: got a PSNR of NaN, expected a number or infinity");
    if (std::isinf(value)) {
      ++all.equal;
    } else {
      sum += value;
    }
  }
  const int64_t unequal = all.images - all.equal;
  all.mean = unequal == 0 ? std::numeric_limits<double>::infinity() : sum / static_cast<double>(unequal);
  return all;
}

}  // namespace heed
