// psnr, ssim: means over images. The signature has the data range, which is that of the files (255 for 8 bits) or of
// --data-range, and the window of SSIM.

#include "heed/metrics/image_quality.h"

#include <cmath>
#include <limits>

#include "apps/cli/eval_metric/image_files.h"

#include "heed/base/check.h"
#include "heed/base/scalar.h"

namespace heed::cli {
namespace {

constexpr double kNoPsnr = std::numeric_limits<double>::quiet_NaN();

struct PictureFiles : ImageSets {
  static constexpr const char* kKind = "images";
  using ImageSets::ImageSets;
};

/// Planes of channels, as the metrics take them.
Image image_of(const Pixels& pixels) {
  Image image{pixels.channels, pixels.height, pixels.width, {}};
  image.values.resize(pixels.values.size());
  const auto channels = static_cast<size_t>(pixels.channels), area = pixels.values.size() / channels;
  for (size_t c = 0; c < channels; ++c)
    for (size_t i = 0; i < area; ++i) image.values[c * area + i] = pixels.values[i * channels + c];
  return image;
}

/// The data range of all images, which is the same.
class DataRange {
 public:
  explicit DataRange(const std::optional<double>& given) : given_(given.has_value()), range_(given.value_or(0)) {}

  double of(const Pixels& image, const Pixels& reference, const std::string& path) {
    if (given_) return range_;
    check(image.max == reference.max && (range_ == 0 || range_ == static_cast<double>(image.max)), "eval: ", path,
          ": got values up to ", image.max, " for a reference with values up to ", reference.max,
          range_ == 0 ? "" : ", after images with values up to " + written_number(range_),
          ", expected one range for all; convert the images, or give --data-range if their values mean the same");
    return range_ = static_cast<double>(image.max);
  }
  std::string text() const { return written_number(range_); }

 private:
  bool given_;
  double range_;
};

/// The value of each image of a system.
using ImageScore =
    std::function<double(const Image& image, const Image& reference, double range, const std::string& path)>;

std::vector<double> values_of_images(const PictureFiles& files, size_t system, DataRange& range,
                                     const ImageScore& score) {
  std::vector<double> all;
  files.each_pair(system, PixelMeaning::brightness,
                  [&](const Pixels& image, const Pixels& reference, const std::string& path) {
                    all.push_back(score(image_of(image), image_of(reference), range.of(image, reference, path), path));
                  });
  return all;
}

Measured measure_psnr(const PictureFiles& files, const FileMetricOptions& options) {
  DataRange range(options.data_range);
  Measured all{.unit = "images", .items = files.images()};
  std::vector<std::vector<double>> defined;
  for (size_t system = 0; system < files.systems(); ++system) {
    auto values = values_of_images(
        files, system, range,
        [](const auto& image, const auto& reference, double of, const auto&) { return psnr(image, reference, of); });
    const MeanPsnr found = mean_psnr(values);
    all.figures.push_back(
        {.key = "psnr",
         .name = "PSNR",
         .signature = signature_of({{"range", range.text()}}),
         .score = found.mean,
         .details = "(images = " + std::to_string(found.images) + " equal = " + std::to_string(found.equal) + ")",
         .more = {{"images", found.images}, {"equal", found.equal}},
         .digits = 2});
    for (auto& value : values) value = std::isinf(value) ? kNoPsnr : value;
    defined.push_back(std::move(values));
  }
  resample_means(all, std::move(defined));
  return all;
}

Measured measure_ssim(const PictureFiles& files, const FileMetricOptions& options) {
  const SsimWindow window = parse_ssim_window(options.ssim_window);
  const int64_t side = ssim_window_size(window);
  DataRange range(options.data_range);
  Measured all{.unit = "images", .items = files.images()};
  std::vector<Statistics> systems;
  for (size_t system = 0; system < files.systems(); ++system) {
    const auto values = values_of_images(
        files, system, range, [&](const Image& image, const Image& reference, double of, const std::string& path) {
          check(image.width >= side && image.height >= side, "eval: ", path, ": got ", image.width, " x ", image.height,
                " pixels, expected at least the ", side, " x ", side, " of the window ", options.ssim_window);
          return ssim(image, reference, of, window);
        });
    double sum = 0;
    for (const double value : values) sum += value;
    all.figures.push_back({.key = "ssim",
                           .name = "SSIM",
                           .signature = signature_of({{"window", options.ssim_window}, {"range", range.text()}}),
                           .score = sum / static_cast<double>(values.size()),
                           .details = "(images = " + std::to_string(values.size()) + ")",
                           .more = {{"images", values.size()}, {"window", options.ssim_window}}});
    systems.push_back(mean_statistics(values));
  }
  all.resampled = [systems = std::move(systems)] { return resampled(systems); };
  return all;
}

const FileMetric psnr_metric{"psnr", measure_psnr};
const FileMetric ssim_metric{"ssim", measure_ssim};

}  // namespace
}  // namespace heed::cli
