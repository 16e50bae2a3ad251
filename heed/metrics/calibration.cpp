#include "heed/metrics/calibration.h"

#include <algorithm>
#include <cmath>

#include "heed/metrics/examples.h"

namespace heed {
namespace {

std::vector<CalibrationBin> empty_bins(int64_t count) {
  const auto bound = [count](int64_t b) { return static_cast<double>(b) / static_cast<double>(count); };
  std::vector<CalibrationBin> bins;
  for (int64_t b = 0; b < count; ++b) bins.push_back({.min = bound(b), .max = bound(b + 1)});
  return bins;
}

CalibrationBin& bin_of(double confidence, std::vector<CalibrationBin>& bins) {
  return *std::lower_bound(bins.begin(), bins.end(), confidence,
                           [](const CalibrationBin& bin, double value) { return bin.max < value; });
}

bool is_probability(double value) {
  return value >= 0 && value <= 1;  // false for NaN
}

}  // namespace

Calibration calibration(const std::vector<double>& confidence, const std::vector<bool>& correct, int64_t bins) {
  check(bins > 0, "metrics/calibration: got ", bins, " bins, expected at least 1");
  check(confidence.size() == correct.size(), "metrics/calibration: got ", confidence.size(), " confidences for ",
        correct.size(), " examples, expected equal numbers");
  check(!confidence.empty(), "metrics/calibration: got no examples, expected at least 1");
  Calibration all{.bins = empty_bins(bins)};
  for (size_t i = 0; i < confidence.size(); ++i) {
    check(is_probability(confidence[i]), "metrics/calibration: got the confidence ", confidence[i], " for example ", i,
          ", expected 0 to 1");
    auto& bin = bin_of(confidence[i], all.bins);
    ++bin.count;
    bin.confidence += confidence[i];
    bin.accuracy += correct[i] ? 1 : 0;
  }
  for (auto& bin : all.bins) {
    if (bin.count == 0) continue;
    const auto count = static_cast<double>(bin.count);
    bin.confidence /= count;
    bin.accuracy /= count;
    const double gap = std::abs(bin.accuracy - bin.confidence);
    all.expected_error += count / static_cast<double>(confidence.size()) * gap;
    all.max_error = std::max(all.max_error, gap);
  }
  return all;
}

double brier_score(const std::vector<std::vector<double>>& probabilities, const std::vector<int64_t>& gold) {
  check_examples("brier_score", probabilities.size(), gold.size());
  const size_t classes = probabilities[0].size();
  check(classes > 0, "metrics/brier_score: got no classes, expected at least 1");
  double sum = 0;
  for (size_t i = 0; i < gold.size(); ++i) {
    check(probabilities[i].size() == classes, "metrics/brier_score: got ", probabilities[i].size(),
          " probabilities for example ", i, ", expected ", classes);
    check(gold[i] >= 0 && gold[i] < static_cast<int64_t>(classes), "metrics/brier_score: got gold class ", gold[i],
          " for example ", i, ", expected 0 to ", classes - 1);
    for (size_t c = 0; c < classes; ++c) {
      const double p = probabilities[i][c];
      check(is_probability(p), "metrics/brier_score: got the probability ", p, " of class ", c, " for example ", i,
            ", expected 0 to 1");
      const double error = p - (static_cast<int64_t>(c) == gold[i] ? 1 : 0);
      sum += error * error;
    }
  }
  return sum / static_cast<double>(gold.size());
}

}  // namespace heed
