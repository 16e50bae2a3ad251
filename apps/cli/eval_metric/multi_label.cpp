// subset_accuracy, hamming_loss: of several labels per example, separated by commas.
//
// Hamming loss divides by the number of classes: those of gold and of all systems, or as many as --classes says.

#include "apps/cli/eval_metric/label_files.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

Measured measure_mean(const LabelFiles& files, const MetricFigure& named,
                      const std::function<double(size_t output)>& value) {
  Measured all{.unit = "examples", .items = files.examples()};
  std::vector<Statistics> systems;
  for (size_t system = 0; system < files.systems.size(); ++system) {
    std::vector<double> values;
    double sum = 0;
    for (const size_t number : files.outputs_of(system)) {
      values.push_back(value(number));
      sum += values.back();
    }
    all.figures.push_back(named);
    all.figures.back().details = "(examples = " + std::to_string(files.examples()) + ")";
    all.figures.back().score = sum / static_cast<double>(values.size());
    systems.push_back(mean_statistics(values));
  }
  all.resampled = [systems = std::move(systems)] { return resampled(systems); };
  return all;
}

Measured measure_subset_accuracy(const LabelFiles& files, const FileMetricOptions&) {
  return measure_mean(files,
                      {.key = "subset_accuracy",
                       .name = "subset accuracy",
                       .signature = signature_of({}),
                       .more = {{"examples", files.examples()}}},
                      [&](size_t output) { return files.output(output) == files.gold_of(output) ? 1 : 0; });
}

Measured measure_hamming_loss(const LabelFiles& files, const FileMetricOptions& options) {
  const auto occur = static_cast<int64_t>(files.classes.size());
  const int64_t classes = options.classes.value_or(occur);
  check(classes >= occur, "eval: got --classes ", classes, ", expected at least the ", occur,
        " labels that occur in the files");
  return measure_mean(files,
                      {.key = "hamming_loss",
                       .name = "Hamming loss",
                       .signature = signature_of({{"classes", std::to_string(classes)}}),
                       .more = {{"examples", files.examples()}, {"classes", classes}}},
                      [&](size_t output) {
                        const HitCounts counts = hits_of(files.output(output), files.gold_of(output));
                        return static_cast<double>(counts.predicted + counts.gold - 2 * counts.hits) /
                               static_cast<double>(classes);
                      });
}

const FileMetric subset_accuracy_metric{"subset_accuracy", measure_subset_accuracy};
const FileMetric hamming_loss_metric{"hamming_loss", measure_hamming_loss};

}  // namespace
}  // namespace heed::cli
