#include "apps/cli/eval_metric/file_metric.h"

#include <cassert>
#include <cmath>
#include <map>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/metrics/significance.h"
#include "heed/version.h"

namespace heed::cli {
namespace {

/// Initialized before the first metric, in any order of the files.
std::map<std::string, FileMetric>& file_metrics() {
  static std::map<std::string, FileMetric> all;
  return all;
}

}  // namespace

FileMetric::FileMetric(std::string name, std::string kind, Read read, Measure measure)
    : name_(std::move(name)), kind_(std::move(kind)), read_(std::move(read)), measure_(std::move(measure)) {
  [[maybe_unused]] const bool is_new = file_metrics().emplace(name_, *this).second;
  assert(is_new);
}

const FileMetric& FileMetric::find(const std::string& name) {
  const auto found = file_metrics().find(name);
  if (found != file_metrics().end()) return found->second;
  const bool is_run = name.find_first_of("/=") != std::string::npos;
  fail("eval: no metric called '", excerpt(name), "'", suggestion(name, names()), "; known: ", joined(names()),
       is_run ? ". heed eval RUN reports all of them and takes no --metrics" : "");
}

std::vector<std::string> FileMetric::names() {
  std::vector<std::string> all;
  for (const auto& [name, metric] : file_metrics()) all.push_back(name);
  return all;
}

std::string FileMetric::names_by_kind() {
  std::map<std::string, std::vector<std::string>> of_kind;
  for (const auto& [name, metric] : file_metrics()) of_kind[metric.kind()].push_back(name);
  std::vector<std::string> all;
  all.reserve(of_kind.size());
  for (const auto& [kind, names] : of_kind) all.push_back(kind + ": " + joined(names));
  return joined(all, "; ");
}

void resample_means(Measured& measured, std::vector<std::vector<double>> values) {
  if (values.size() > 1) {
    measured.left_out = leave_out_of_all(values);
    for (auto& figure : measured.figures) figure.more["left_out_of_all"] = measured.left_out;
  }
  std::vector<Statistics> systems;
  systems.reserve(values.size());
  for (const auto& one : values) systems.push_back(mean_statistics(one));
  if (measured.left_out > 0) {
    const auto scores = scores_of(resampled(systems));
    for (size_t i = 0; i < scores.size(); ++i)
      if (!std::isinf(measured.figures[i].score)) measured.figures[i].score = scores[i];
  }
  measured.resampled = [systems = std::move(systems)] { return resampled(systems); };
}

std::string signature_of(const std::vector<std::pair<std::string, std::string>>& choices) {
  std::vector<std::string> fields;
  fields.reserve(choices.size() + 1);
  for (const auto& [name, choice] : choices) fields.push_back(joined({name, choice}, ":"));
  fields.push_back("version:heed-" + std::string(kVersion));
  return joined(fields, "|");
}

void check_one_kind(const std::vector<std::string>& metrics) {
  for (const auto& name : metrics) {
    const auto& first = FileMetric::find(metrics.front());
    const auto& metric = FileMetric::find(name);
    check(metric.kind() == first.kind(), "eval: got the metrics ", first.name(), ", of ", first.kind(), ", and ",
          metric.name(), ", of ", metric.kind(),
          ", expected metrics of one kind of files; call heed eval for each kind");
  }
}

}  // namespace heed::cli
