// accuracy, balanced_accuracy, matthews: of one label per example.

#include "heed/metrics/classification.h"

#include <numeric>

#include "apps/cli/eval_metric/label_files.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

/// Scores of outputs over the classes that occur in them. A class that does not occur would change none of them.
ClassificationScores scores_of_outputs(const LabelFiles& files, std::span<const size_t> outputs) {
  std::vector<int64_t> ids(files.classes.size(), -1), predicted, gold;  // ids of the classes that occur
  int64_t classes = 0;
  const auto id_of = [&](size_t label) { return ids[label] < 0 ? ids[label] = classes++ : ids[label]; };
  for (const size_t number : outputs) {
    predicted.push_back(id_of(files.output(number)[0]));
    gold.push_back(id_of(files.gold_of(number)[0]));
  }
  return classification_scores(confusion_matrix(predicted, gold, classes));
}

/// The confusion matrix has a cell for each pair of classes.
void check_number_of_classes(const LabelFiles& files, const std::string& metric) {
  constexpr size_t kMaxClasses = 4096;
  check(files.classes.size() <= kMaxClasses, "eval: got ", files.classes.size(), " classes, expected at most ",
        kMaxClasses, " for ", metric, "; are these labels? precision, recall and f1 take any number of classes");
}

Measured measure_by_matrix(const LabelFiles& files, const FileMetricOptions& options, MetricFigure figure,
                           double ClassificationScores::*score) {
  check_single_labels(files, options, figure.key);
  check_number_of_classes(files, figure.key);
  Measured all{.unit = "examples", .items = files.examples()};
  figure.signature = signature_of({});
  for (size_t system = 0; system < files.systems.size(); ++system) {
    figure.score = scores_of_outputs(files, files.outputs_of(system)).*score;
    figure.details = "(examples = " + std::to_string(files.examples()) + ")";
    figure.more["examples"] = files.examples();
    all.figures.push_back(figure);
  }
  all.resampled = [&files, score] {
    return Resampled{files.systems.size(), files.examples(), [&files, score](std::span<const size_t> outputs) {
                       return scores_of_outputs(files, outputs).*score;
                     }};
  };
  return all;
}

Measured measure_accuracy(const LabelFiles& files, const FileMetricOptions& options) {
  check_single_labels(files, options, "accuracy");
  Measured all{.unit = "examples", .items = files.examples()};
  std::vector<Statistics> systems;
  for (const auto& examples : files.systems) {
    std::vector<double> right;
    for (size_t i = 0; i < examples.size(); ++i) right.push_back(examples[i] == files.gold[i] ? 1 : 0);
    const auto hits = static_cast<int64_t>(std::accumulate(right.begin(), right.end(), 0.0));
    all.figures.push_back(
        {.key = "accuracy",
         .name = "accuracy",
         .signature = signature_of({}),
         .score = static_cast<double>(hits) / static_cast<double>(right.size()),
         .details = "(right = " + std::to_string(hits) + " examples = " + std::to_string(right.size()) + ")",
         .more = {{"right", hits}, {"examples", right.size()}}});
    systems.push_back(mean_statistics(right));
  }
  all.resampled = [systems = std::move(systems)] { return resampled(systems); };
  return all;
}

Measured measure_balanced_accuracy(const LabelFiles& files, const FileMetricOptions& options) {
  return measure_by_matrix(files, options, {.key = "balanced_accuracy", .name = "balanced accuracy"},
                           &ClassificationScores::balanced_accuracy);
}

Measured measure_matthews(const LabelFiles& files, const FileMetricOptions& options) {
  return measure_by_matrix(files, options, {.key = "matthews", .name = "Matthews"}, &ClassificationScores::matthews);
}

const FileMetric accuracy_metric{"accuracy", measure_accuracy};
const FileMetric balanced_accuracy_metric{"balanced_accuracy", measure_balanced_accuracy};
const FileMetric matthews_metric{"matthews", measure_matthews};

}  // namespace
}  // namespace heed::cli
