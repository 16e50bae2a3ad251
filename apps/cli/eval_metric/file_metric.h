// The metrics of `heed eval` on plain files. A static object in the file of its group registers a metric, so that a new
// one edits no list:
//
//   Measured measure_wer(const TextFiles& files, const FileMetricOptions& options);
//   const FileMetric wer_metric{"wer", measure_wer};
//
// The first parameter is the kind of files that it reads: a struct with the name kKind that is made from the options
// and a FileReader. What was read is shared by all metrics of a call, which are therefore of one kind.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/eval_metric/file_reader.h"
#include <nlohmann/json.hpp>

#include "heed/base/links.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/resampled.h"
#include "heed/metrics/ter.h"

namespace heed::cli {

/// The files, and the options of all metrics.
struct FileMetricOptions {
  std::vector<std::string> hypotheses;  // a file for each system; of images also a folder or a list
  std::vector<std::string> references;
  BleuOptions bleu;  // bleu.lowercase applies to chrF too
  TerOptions ter;
  std::string phone_fold;               // "timit", a file with the phone for each phone, or empty: none
  std::string average = "macro";        // of precision, recall, F1: macro, micro, weighted, samples
  int64_t k = 10;                       // of HR@k and NDCG@k
  std::string ssim_window = "wang";     // or uniform
  std::optional<double> data_range;     // of images; none: as the files say
  std::optional<int64_t> classes;       // of masks and multi-label metrics; none: those that occur
  std::optional<int64_t> ignore_class;  // gold pixels of this class are not counted
  LinkNumbers links_numbers, gold_numbers;
};

/// A metric of one system, as sacreBLEU prints it, and more fields for JSON.
struct MetricFigure {
  std::string key{}, name{}, signature{};
  double score = 0;  // NaN: there is none
  std::string details{};
  nlohmann::ordered_json more = nlohmann::ordered_json::object();
  int digits = 4;  // after the decimal point, unless the user gives a number
};

/// What a metric makes of the files.
struct Measured {
  std::vector<MetricFigure> figures{};  // by system
  std::string unit{};                   // of what significance resamples: "sentences"
  size_t items = 0;
  std::function<Resampled()> resampled{};  // of all systems; valid as long as the files
  size_t left_out = 0;                     // items without a score in one of several systems, left out of all
};

class FileMetric {
 public:
  using Files = std::shared_ptr<const void>;

  /// Registers the metric.
  template <typename Kind>
  FileMetric(const std::string& name, Measured (*of_kind)(const Kind&, const FileMetricOptions&))
      : FileMetric(
            name, Kind::kKind,
            [](const FileMetricOptions& options, FileReader& reader) -> Files {
              return std::make_shared<const Kind>(options, reader);
            },
            [of_kind](const Files& files, const FileMetricOptions& options) {
              return of_kind(*static_cast<const Kind*>(files.get()), options);
            }) {}

  /// The metric of that name; throws Error, with the nearest one, if there is none.
  static const FileMetric& find(const std::string& name);
  static std::vector<std::string> names();
  /// "texts: bleu, chrf; numbers: mae, mse"
  static std::string names_by_kind();

  const std::string& name() const { return name_; }
  const std::string& kind() const { return kind_; }
  Files read(const FileMetricOptions& options, FileReader& reader) const { return read_(options, reader); }
  Measured measure(const Files& files, const FileMetricOptions& options) const { return measure_(files, options); }

 private:
  using Read = std::function<Files(const FileMetricOptions&, FileReader&)>;
  using Measure = std::function<Measured(const Files&, const FileMetricOptions&)>;

  FileMetric(std::string name, std::string kind, Read read, Measure measure);

  std::string name_, kind_;
  Read read_;
  Measure measure_;
};

/// Makes the mean over items what significance resamples. values: [system][item], NaN where there is no score. Where
/// several systems are compared, such an item is left out of all of them, and of the scores in the figures.
void resample_means(Measured& measured, std::vector<std::vector<double>> values);

/// "average:macro|version:heed-0.2.0"
std::string signature_of(const std::vector<std::pair<std::string, std::string>>& choices);

/// 'bleu', 'chrf' are of texts and 'mse' of numbers: throws Error unless all metrics are of one kind.
void check_one_kind(const std::vector<std::string>& metrics);

}  // namespace heed::cli
