// Labels of examples, one example per line: a label, or for multi-label metrics several, separated by commas; an empty
// line is an example without labels.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/cli/eval_metric/file_metric.h"

#include "heed/metrics/precision_recall.h"

namespace heed::cli {

struct LabelFiles {
  static constexpr const char* kKind = "labels";
  LabelFiles(const FileMetricOptions& options, FileReader& reader);

  using Labels = std::vector<size_t>;  // classes of an example, sorted
  using Examples = std::vector<Labels>;

  std::vector<std::string> classes;  // all labels of gold and of all systems, sorted
  Examples gold;
  std::vector<Examples> systems;

  size_t examples() const { return gold.size(); }
  /// The labels that a system gives an example; outputs have the numbers system * examples + example.
  const Labels& output(size_t number) const { return systems[number / gold.size()][number % gold.size()]; }
  const Labels& gold_of(size_t number) const { return gold[number % gold.size()]; }
  /// The numbers of the outputs of a system.
  std::vector<size_t> outputs_of(size_t system) const;

  /// Counts of each class in these outputs, or only of the classes that occur in them, predicted or gold.
  std::vector<HitCounts> counts(std::span<const size_t> outputs) const;
  std::vector<HitCounts> counts_of_present(std::span<const size_t> outputs) const;
};

/// Counts of the labels of an example.
HitCounts hits_of(const LabelFiles::Labels& predicted, const LabelFiles::Labels& gold);

/// Throws Error, with file and line, unless every example has one label. metric: which needs it.
void check_single_labels(const LabelFiles& files, const FileMetricOptions& options, const std::string& metric);

}  // namespace heed::cli
