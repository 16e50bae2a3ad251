// Scores of classification, multi-label classification, calibration and regression against scikit-learn and SciPy, on
// random and degenerate predictions. fixtures/classification_scores.py writes fixtures/classification.json.

#include <algorithm>
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/calibration.h"
#include "heed/metrics/classification.h"
#include "heed/metrics/multi_label.h"
#include "heed/metrics/regression.h"

namespace heed {
namespace {

using nlohmann::json;

constexpr double kClose = 1e-12;  // 40 examples at most: their sums have some 40 rounding errors of 1e-16

const json& fixture() {
  static const json all = json::parse(std::ifstream("heed/metrics/fixtures/classification.json"));
  return all;
}

/// Within kClose, absolute up to 1 and relative above; NaN where null is expected.
void expect_close(double found, const json& expected, const std::string& what) {
  if (expected.is_null()) {
    EXPECT_TRUE(std::isnan(found)) << what << " is " << found;
    return;
  }
  const auto sought = expected.get<double>();
  EXPECT_NEAR(found, sought, kClose * std::max(1.0, std::abs(sought))) << what;
}

/// Within kClose, relative: for sums of positive terms, however small.
void expect_same_digits(double found, const json& expected, const std::string& what) {
  EXPECT_NEAR(found, expected.get<double>(), kClose * expected.get<double>()) << what;
}

void expect_scores(const PrecisionRecall& found, const json& expected, const std::string& what) {
  expect_close(found.precision, expected.at(0), what + " precision");
  expect_close(found.recall, expected.at(1), what + " recall");
  expect_close(found.f1, expected.at(2), what + " F1");
}

void expect_classes(const std::vector<PrecisionRecall>& found, const json& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t c = 0; c < found.size(); ++c) {
    expect_scores(found[c], expected[c], "class " + std::to_string(c));
    EXPECT_EQ(found[c].support, expected[c].at(3).get<int64_t>());
  }
}

/// "0110"
std::vector<bool> bits(const json& text) {
  std::vector<bool> all;
  for (const char c : text.get<std::string>()) all.push_back(c == '1');
  return all;
}

LabelRows rows(const json& texts) {
  LabelRows all;
  for (const auto& text : texts) all.push_back(bits(text));
  return all;
}

TEST(ScikitLearn, HasScoresOfManyPredictions) {
  EXPECT_EQ(fixture().at("classification").size(), 81U);
  EXPECT_EQ(fixture().at("multi_label").size(), 62U);
  EXPECT_EQ(fixture().at("calibration").size(), 44U);
  EXPECT_EQ(fixture().at("brier").size(), 30U);
  EXPECT_EQ(fixture().at("regression").size(), 69U);
}

TEST(ScikitLearn, HasTheSameScoresOfClassification) {
  for (const auto& one : fixture().at("classification")) {
    SCOPED_TRACE(one.dump());
    const auto matrix = confusion_matrix(one["predicted"].get<std::vector<int64_t>>(),
                                         one["gold"].get<std::vector<int64_t>>(), one["given_classes"].get<int64_t>());
    EXPECT_EQ(matrix.counts, one["counts"].get<std::vector<std::vector<int64_t>>>());
    const auto found = classification_scores(matrix);
    expect_close(found.accuracy, one["accuracy"], "accuracy");
    expect_close(found.balanced_accuracy, one["balanced_accuracy"], "balanced accuracy");
    expect_close(found.matthews, one["matthews"], "Matthews correlation");
    expect_classes(found.classes, one["classes"]);
    expect_scores(found.macro, one["macro"], "macro");
    expect_scores(found.micro, one["micro"], "micro");
    expect_scores(found.weighted, one["weighted"], "weighted");
  }
}

TEST(ScikitLearn, HasTheSameScoresOfMultiLabelClassification) {
  for (const auto& one : fixture().at("multi_label")) {
    SCOPED_TRACE(one.dump());
    const auto found = multi_label_scores(rows(one["predicted"]), rows(one["gold"]));
    expect_close(found.subset_accuracy, one["subset_accuracy"], "subset accuracy");
    expect_close(found.hamming_loss, one["hamming_loss"], "Hamming loss");
    expect_classes(found.classes, one["classes"]);
    expect_scores(found.macro, one["macro"], "macro");
    expect_scores(found.micro, one["micro"], "micro");
    expect_scores(found.weighted, one["weighted"], "weighted");
    expect_scores(found.samples, one["samples"], "samples");
  }
}

/// The script counts by the definition, bin by bin. Bins: [position, count, confidence, accuracy], without empty ones.
TEST(ScikitLearn, HasTheCalibrationErrorsOfTheScript) {
  for (const auto& one : fixture().at("calibration")) {
    SCOPED_TRACE(one.dump());
    const auto confidence = one["confidence"].get<std::vector<double>>();
    const auto found = calibration(confidence, bits(one["correct"]), one["given_bins"].get<int64_t>());
    expect_close(found.expected_error, one["expected_error"], "expected error");
    expect_close(found.max_error, one["max_error"], "maximum error");
    size_t examples = 0;
    for (const auto& expected : one["bins"]) {
      const auto& bin = found.bins.at(expected.at(0).get<size_t>());
      EXPECT_EQ(bin.count, expected.at(1).get<int64_t>()) << expected;
      expect_close(bin.confidence, expected.at(2), "confidence");
      expect_close(bin.accuracy, expected.at(3), "accuracy");
      examples += static_cast<size_t>(bin.count);
    }
    EXPECT_EQ(examples, confidence.size());
  }
}

TEST(ScikitLearn, HasTheSameBrierScore) {
  for (const auto& one : fixture().at("brier")) {
    SCOPED_TRACE(one.dump());
    const double found = brier_score(one["probabilities"].get<std::vector<std::vector<double>>>(),
                                     one["gold"].get<std::vector<int64_t>>());
    expect_close(found, one["score"], "Brier score");
  }
}

TEST(ScikitLearn, HasTheSameErrorsAndCorrelations) {
  for (const auto& one : fixture().at("regression")) {
    SCOPED_TRACE(one.dump());
    const auto found =
        regression_scores(one["predicted"].get<std::vector<double>>(), one["gold"].get<std::vector<double>>());
    expect_same_digits(found.mse, one["mse"], "MSE");
    expect_same_digits(found.rmse, one["rmse"], "RMSE");
    expect_same_digits(found.mae, one["mae"], "MAE");
    expect_close(found.r2, one["r2"], "R^2");
    expect_close(found.pearson, one["pearson"], "Pearson");
    expect_close(found.spearman, one["spearman"], "Spearman");
  }
}

}  // namespace
}  // namespace heed
