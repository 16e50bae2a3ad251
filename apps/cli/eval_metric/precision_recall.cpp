// precision, recall, f1: of one label per example or of several, averaged as --average says.
//
//   macro      mean over the classes that occur, predicted or gold, as in scikit-learn
//   micro      of the counts summed over classes
//   weighted   by the number of gold examples of the class
//   samples    mean over examples; of several labels per example

#include "heed/metrics/precision_recall.h"

#include <limits>

#include "apps/cli/eval_metric/label_files.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

using Score = double PrecisionRecall::*;

std::vector<std::string> averages() {
  return {"macro", "micro", "weighted", "samples"};
}

double mean_over_examples(const LabelFiles& files, std::span<const size_t> outputs, Score score) {
  double sum = 0;
  for (const size_t number : outputs)
    sum += precision_recall(hits_of(files.output(number), files.gold_of(number))).*score;
  return sum / static_cast<double>(outputs.size());
}

double average_of(const LabelFiles& files, std::span<const size_t> outputs, const std::string& average, Score score) {
  if (average == "samples") return mean_over_examples(files, outputs, score);
  const auto counts = files.counts_of_present(outputs);
  if (counts.empty()) return std::numeric_limits<double>::quiet_NaN();  // no labels at all: a sample may be so
  if (average == "micro") return micro_average(counts).*score;
  if (average == "weighted") return weighted_average(counts).*score;
  return macro_average(counts).*score;
}

MetricFigure class_figure(const LabelFiles& files, size_t system, const std::string& average, Score score,
                          MetricFigure figure) {
  const auto outputs = files.outputs_of(system);
  figure.signature = signature_of({{"average", average}});
  figure.score = average_of(files, outputs, average, score);
  for (const auto& one : averages()) figure.more[one] = average_of(files, outputs, one, score);
  const auto counts = files.counts(outputs);
  size_t present = 0;
  for (size_t c = 0; c < counts.size(); ++c) {
    if (counts[c].predicted + counts[c].gold == 0) continue;
    ++present;
    const auto found = precision_recall(counts[c]);
    figure.more["classes"][files.classes[c]] = {{"score", found.*score}, {"support", found.support}};
  }
  figure.details = "(classes = " + std::to_string(present) + " examples = " + std::to_string(files.examples()) + ")";
  return figure;
}

Measured measure_average(const LabelFiles& files, const FileMetricOptions& options, const MetricFigure& named,
                         Score score) {
  const std::string& average = options.average;
  Measured all{.unit = "examples", .items = files.examples()};
  for (size_t system = 0; system < files.systems.size(); ++system)
    all.figures.push_back(class_figure(files, system, average, score, named));
  all.resampled = [&files, average, score] {
    return Resampled{files.systems.size(), files.examples(), [&files, average, score](std::span<const size_t> outputs) {
                       return average_of(files, outputs, average, score);
                     }};
  };
  return all;
}

Measured measure_precision(const LabelFiles& files, const FileMetricOptions& options) {
  return measure_average(files, options, {.key = "precision", .name = "precision"}, &PrecisionRecall::precision);
}

Measured measure_recall(const LabelFiles& files, const FileMetricOptions& options) {
  return measure_average(files, options, {.key = "recall", .name = "recall"}, &PrecisionRecall::recall);
}

Measured measure_f1(const LabelFiles& files, const FileMetricOptions& options) {
  return measure_average(files, options, {.key = "f1", .name = "F1"}, &PrecisionRecall::f1);
}

const FileMetric precision_metric{"precision", measure_precision};
const FileMetric recall_metric{"recall", measure_recall};
const FileMetric f1_metric{"f1", measure_f1};

}  // namespace
}  // namespace heed::cli
