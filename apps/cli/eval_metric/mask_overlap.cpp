// miou: mean over classes of the intersection over union of masks, counts summed over all images. A class is a gray
// value or a palette entry.

#include <algorithm>
#include <limits>
#include <set>

#include "apps/cli/eval_metric/image_files.h"

#include "heed/base/check.h"
#include "heed/metrics/overlap.h"

namespace heed::cli {
namespace {

struct MaskFiles : ImageSets {
  static constexpr const char* kKind = "masks";
  using ImageSets::ImageSets;
};

/// The classes of pixels, in the range that was given; those of ignored pixels as well.
LabelMap label_map_of(const Pixels& pixels, const std::string& path, const FileMetricOptions& options) {
  LabelMap all(pixels.values.begin(), pixels.values.end());
  if (!options.classes) return all;
  for (const int64_t label : all)
    check(label < *options.classes || label == options.ignore_class, "eval: ", path, ": got the class ", label,
          ", expected 0 to ", *options.classes - 1, "; give --classes, or --ignore-class ", label,
          " if such pixels are not counted");
  return all;
}

/// Counts of one pair, of the classes up to the largest one that occurs.
MaskCounts counts_of_pair(const LabelMap& predicted, const LabelMap& gold, const std::string& path,
                          const FileMetricOptions& options) {
  int64_t largest = 0;
  for (size_t i = 0; i < gold.size(); ++i) {
    if (gold[i] == options.ignore_class) continue;
    check(predicted[i] != options.ignore_class, "eval: ", path, ": got the ignored class ", predicted[i],
          " where the reference has ", gold[i], ", expected a class; only pixels of the reference are ignored");
    largest = std::max({largest, predicted[i], gold[i]});
  }
  return mask_counts(predicted, gold, {.classes = largest + 1, .ignored = options.ignore_class});
}

std::vector<MaskCounts> counts_of_system(const MaskFiles& files, size_t system, const FileMetricOptions& options) {
  std::vector<MaskCounts> all;
  files.each_pair(
      system, PixelMeaning::label, [&](const Pixels& image, const Pixels& reference, const std::string& path) {
        all.push_back(counts_of_pair(label_map_of(image, path, options),
                                     label_map_of(reference, "reference of " + path, options), path, options));
      });
  return all;
}

MetricFigure miou_figure(const std::vector<MaskCounts>& images, const FileMetricOptions& options) {
  MaskCounts sum;
  for (const auto& counts : images) sum += counts;
  if (options.classes) {
    sum.intersection.resize(static_cast<size_t>(*options.classes));
    sum.in_union.resize(static_cast<size_t>(*options.classes));
  }
  const MaskOverlap found = mask_overlap_of(sum);
  const auto ignored = options.ignore_class ? std::to_string(*options.ignore_class) : "none";
  MetricFigure figure{.key = "miou",
                      .name = "mIoU",
                      .signature = signature_of({{"ignored", ignored}}),
                      .score = found.mean,
                      .details = "(images = " + std::to_string(images.size()) + " classes = " +
                                 std::to_string(static_cast<int64_t>(found.classes.size()) - found.empty) +
                                 " absent = " + std::to_string(found.empty) + ")",
                      .more = {{"images", images.size()}, {"absent", found.empty}}};
  figure.more["classes"] = nlohmann::ordered_json::object();
  for (size_t c = 0; c < found.classes.size(); ++c)
    if (found.classes[c]) figure.more["classes"][std::to_string(c)] = *found.classes[c];
  return figure;
}

/// Classes with pixels in any image of any system, in order; only these are resampled.
std::vector<size_t> present_classes(const std::vector<std::vector<MaskCounts>>& systems) {
  std::set<size_t> all;
  for (const auto& images : systems)
    for (const auto& counts : images)
      for (size_t c = 0; c < counts.in_union.size(); ++c)
        if (counts.in_union[c] > 0) all.insert(c);
  return {all.begin(), all.end()};
}

double miou_of_sum(const std::vector<double>& sum) {
  double total = 0, classes = 0;
  for (size_t i = 0; i < sum.size(); i += 2) {
    if (sum[i + 1] == 0) continue;
    total += sum[i] / sum[i + 1];
    ++classes;
  }
  return classes > 0 ? total / classes : std::numeric_limits<double>::quiet_NaN();
}

Statistics mask_statistics(const std::vector<MaskCounts>& images, const std::vector<size_t>& classes) {
  Statistics all{{}, miou_of_sum};
  for (const auto& counts : images) {
    std::vector<double> row;
    for (const size_t c : classes) {
      const bool has = c < counts.in_union.size();
      row.push_back(has ? static_cast<double>(counts.intersection[c]) : 0);
      row.push_back(has ? static_cast<double>(counts.in_union[c]) : 0);
    }
    all.rows.push_back(std::move(row));
  }
  return all;
}

Measured measure_miou(const MaskFiles& files, const FileMetricOptions& options) {
  Measured all{.unit = "images", .items = files.images()};
  std::vector<std::vector<MaskCounts>> counts;
  for (size_t system = 0; system < files.systems(); ++system) {
    counts.push_back(counts_of_system(files, system, options));
    all.figures.push_back(miou_figure(counts.back(), options));
  }
  all.resampled = [counts = std::move(counts)] {
    const auto classes = present_classes(counts);
    std::vector<Statistics> systems;
    for (const auto& images : counts) systems.push_back(mask_statistics(images, classes));
    return resampled(systems);
  };
  return all;
}

const FileMetric miou_metric{"miou", measure_miou};

}  // namespace
}  // namespace heed::cli
