// iou: of boxes, x1 y1 x2 y2 per line; the box on a line of one file belongs to that on the same line of the other.

#include <limits>

#include "apps/cli/eval_metric/text_files.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/metrics/overlap.h"

namespace heed::cli {
namespace {

std::vector<Box> boxes_of(const std::string& path, const std::vector<std::string>& lines) {
  constexpr const char* kExpected = "4 numbers, x1 y1 x2 y2";
  std::vector<Box> all;
  for (size_t i = 0; i < lines.size(); ++i) {
    check_plain(path, i, lines[i]);
    const auto parts = parts_of(lines[i]);
    check(parts.size() == 4, at_line(path, i), "got ", parts.size(), " values in '", excerpt(lines[i]), "', expected ",
          kExpected, " separated by spaces");
    const auto number = [&](size_t part) { return finite_number_of(path, i, parts[part], kExpected); };
    all.push_back({number(0), number(1), number(2), number(3)});
    check(all.back().x1 <= all.back().x2 && all.back().y1 <= all.back().y2, at_line(path, i), "got the box '",
          excerpt(lines[i]), "', expected x1 <= x2 and y1 <= y2; x2 and y2 are edges, not width and height");
  }
  return all;
}

struct BoxFiles {
  static constexpr const char* kKind = "boxes";
  BoxFiles(const FileMetricOptions& options, FileReader& reader) {
    check_one_reference("boxes", options.references.size());
    const auto lines = read_lines_of(options, reader, "a box, x1 y1 x2 y2,");
    gold = boxes_of(options.references.front(), lines.references.front());
    for (size_t i = 0; i < lines.systems.size(); ++i)
      systems.push_back(boxes_of(options.hypotheses[i], lines.systems[i]));
  }
  std::vector<Box> gold;
  std::vector<std::vector<Box>> systems;
};

Measured measure_iou(const BoxFiles& files, const FileMetricOptions&) {
  constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();
  Measured all{.unit = "boxes", .items = files.gold.size()};
  std::vector<std::vector<double>> values;
  for (const auto& boxes : files.systems) {
    const BoxOverlap found = box_overlap(boxes, files.gold);
    all.figures.push_back(
        {.key = "iou",
         .name = "IoU",
         .signature = signature_of({}),
         .score = found.empty == found.pairs ? kNoScore : found.mean,
         .details = "(pairs = " + std::to_string(found.pairs) + " without area = " + std::to_string(found.empty) + ")",
         .more = {{"pairs", found.pairs}, {"without_area", found.empty}}});
    values.emplace_back();
    for (const auto& iou : found.boxes) values.back().push_back(iou.value_or(kNoScore));
  }
  resample_means(all, std::move(values));
  return all;
}

const FileMetric iou_metric{"iou", measure_iou};

}  // namespace
}  // namespace heed::cli
