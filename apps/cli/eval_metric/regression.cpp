// mse, rmse, mae, r2, pearson, spearman: of one finite number per line.

#include "heed/metrics/regression.h"

#include <algorithm>
#include <cmath>

#include "apps/cli/eval_metric/text_files.h"

#include "heed/base/check.h"
#include "heed/metrics/text.h"

namespace heed::cli {
namespace {

using Numbers = std::vector<double>;

Numbers numbers_of(const std::string& path, const std::vector<std::string>& lines) {
  Numbers all;
  for (size_t i = 0; i < lines.size(); ++i)
    all.push_back(finite_number_of(path, i, std::string(without_outer_whitespace(lines[i])), "one number"));
  return all;
}

struct NumberFiles {
  static constexpr const char* kKind = "numbers";
  NumberFiles(const FileMetricOptions& options, FileReader& reader) {
    check_one_reference("numbers", options.references.size());
    const auto lines = read_lines_of(options, reader, "a number");
    gold = numbers_of(options.references.front(), lines.references.front());
    for (size_t i = 0; i < lines.systems.size(); ++i)
      systems.push_back(numbers_of(options.hypotheses[i], lines.systems[i]));
  }
  Numbers gold;
  std::vector<Numbers> systems;
};

/// Figures of all systems; what significance resamples computes `score` again from a sample.
Measured measure_numbers(const NumberFiles& files, const MetricFigure& named,
                         double (*score)(const Numbers& predicted, const Numbers& gold)) {
  Measured all{.unit = "numbers", .items = files.gold.size()};
  for (const auto& numbers : files.systems) {
    all.figures.push_back(named);
    all.figures.back().signature = signature_of({});
    all.figures.back().score = score(numbers, files.gold);
    all.figures.back().details = "(examples = " + std::to_string(numbers.size()) + ")";
    all.figures.back().more = {{"examples", numbers.size()}};
  }
  all.resampled = [&files, score] { return rescored(files.systems, files.gold, score); };
  return all;
}

/// The same for an error that is a function of the mean over examples.
Measured measure_errors(const NumberFiles& files, const MetricFigure& named,
                        double (*score)(const Numbers& predicted, const Numbers& gold),
                        double (*error)(double difference), double (*of_mean)(double mean)) {
  Measured all = measure_numbers(files, named, score);
  all.resampled = [&files, error, of_mean] {
    std::vector<Statistics> systems;
    for (const auto& numbers : files.systems) {
      Statistics one{{}, [of_mean](const std::vector<double>& sum) { return of_mean(sum[0] / sum[1]); }};
      for (size_t i = 0; i < numbers.size(); ++i) one.rows.push_back({error(numbers[i] - files.gold[i]), 1});
      systems.push_back(std::move(one));
    }
    return resampled(systems);
  };
  return all;
}

double squared(double difference) {
  return difference * difference;
}

double magnitude(double difference) {
  return std::abs(difference);
}

double itself(double mean) {
  return mean;
}

double root(double mean) {
  return std::sqrt(mean);
}

double mse_of(const Numbers& predicted, const Numbers& gold) {
  return regression_scores(predicted, gold).mse;
}

double rmse_of(const Numbers& predicted, const Numbers& gold) {
  return regression_scores(predicted, gold).rmse;
}

double mae_of(const Numbers& predicted, const Numbers& gold) {
  return regression_scores(predicted, gold).mae;
}

double r2_of(const Numbers& predicted, const Numbers& gold) {
  return regression_scores(predicted, gold).r2;
}

Measured measure_mse(const NumberFiles& files, const FileMetricOptions&) {
  return measure_errors(files, {.key = "mse", .name = "MSE"}, mse_of, squared, itself);
}

Measured measure_rmse(const NumberFiles& files, const FileMetricOptions&) {
  return measure_errors(files, {.key = "rmse", .name = "RMSE"}, rmse_of, squared, root);
}

Measured measure_mae(const NumberFiles& files, const FileMetricOptions&) {
  return measure_errors(files, {.key = "mae", .name = "MAE"}, mae_of, magnitude, itself);
}

Measured measure_r2(const NumberFiles& files, const FileMetricOptions&) {
  return measure_numbers(files, {.key = "r2", .name = "R2"}, r2_of);
}

Measured measure_pearson(const NumberFiles& files, const FileMetricOptions&) {
  return measure_numbers(files, {.key = "pearson", .name = "Pearson"}, pearson);
}

Measured measure_spearman(const NumberFiles& files, const FileMetricOptions&) {
  return measure_numbers(files, {.key = "spearman", .name = "Spearman"}, spearman);
}

const FileMetric mse_metric{"mse", measure_mse};
const FileMetric rmse_metric{"rmse", measure_rmse};
const FileMetric mae_metric{"mae", measure_mae};
const FileMetric r2_metric{"r2", measure_r2};
const FileMetric pearson_metric{"pearson", measure_pearson};
const FileMetric spearman_metric{"spearman", measure_spearman};

}  // namespace
}  // namespace heed::cli
