// The figures and the report of a classifier, from predictions made by hand.

#include "heed/train/task/classify_report.h"

#include <cmath>

#include <gtest/gtest.h>

namespace heed::testing {
namespace {

using ReportJson = nlohmann::ordered_json;

std::vector<std::string> keys_of(const ReportJson& report) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : report.items()) keys.push_back(key);
  return keys;
}

double figure(const Figures& figures, const std::string& name) {
  for (const auto& [known, value] : figures)
    if (known == name) return value;
  return NAN;
}

constexpr double kExact = 1e-12;  // double, sums of a few numbers

// Right, wrong and right; the classes have recalls 1 and 1/2, precisions 1/2 and 1.
TEST(LabelReport, OfOneLabelHasItsScores) {
  const LabelSet labels{.form = LabelForm::one, .names = {"no", "yes"}};
  const std::vector<Prediction> said{{.probabilities = {0.75, 0.25}},
                                     {.probabilities = {0.5, 0.5}},  // the first of equal ones is predicted
                                     {.probabilities = {0.25, 0.75}}};
  const std::vector<Label> gold{{.classes = {0}}, {.classes = {1}}, {.classes = {1}}};
  const JudgedSet set{labels, said, gold};
  const ReportJson report = label_report(set);
  EXPECT_EQ(report["examples"], 3);
  EXPECT_EQ(report["labels"], "one");
  EXPECT_NEAR(report["loss"].get<double>(), -(2 * std::log(0.75) + std::log(0.5)) / 3, kExact);
  EXPECT_NEAR(report["accuracy"].get<double>(), 2.0 / 3, kExact);
  EXPECT_NEAR(report["balanced_accuracy"].get<double>(), 0.75, kExact);
  EXPECT_NEAR(report["f1"].get<double>(), 2.0 / 3, kExact);  // both classes: 2 * 1 * 1/2 / (3/2)
  EXPECT_NEAR(report["brier"].get<double>(), (0.125 + 0.5 + 0.125) / 3, kExact);
  EXPECT_EQ(report["confusion"], ReportJson::parse("[[1, 0], [1, 1]]"));
  ASSERT_EQ(report["classes"].size(), 2U);
  EXPECT_EQ(report["classes"][1]["class"], "yes");
  EXPECT_EQ(report["classes"][1]["support"], 2);
  EXPECT_EQ(report["classes"][1]["recall"], 0.5);
  for (const char* key : {"macro", "micro", "weighted", "matthews", "calibration_error", "max_calibration_error"})
    EXPECT_TRUE(report.contains(key)) << key;
  EXPECT_NEAR(figure(label_figures(set), "accuracy"), 2.0 / 3, kExact);
  EXPECT_NEAR(figure(label_figures(set), "loss"), mean_loss(set), kExact);
}

// Classes a (right, right) and b (predicted, not predicted where it applies): 2 right, 1 predicted wrongly, 1 missed.
TEST(LabelReport, OfSeveralLabelsHasItsThreshold) {
  LabelSet labels{.form = LabelForm::several, .names = {"a", "b"}, .threshold = 0.25};
  const std::vector<Prediction> said{{.probabilities = {0.25, 0.5}}, {.probabilities = {0.5, 0.125}}};
  const std::vector<Label> gold{{.classes = {0}}, {.classes = {0, 1}}};
  const JudgedSet set{labels, said, gold};
  const ReportJson report = label_report(set);
  EXPECT_EQ(report["labels"], "several");
  EXPECT_EQ(report["threshold"], 0.25);
  EXPECT_NEAR(report["loss"].get<double>(), -(std::log(0.25 * 0.5) + std::log(0.5 * 0.125)) / 2, kExact);
  EXPECT_EQ(report["accuracy"], 0);
  EXPECT_EQ(report["hamming_loss"], 0.5);
  EXPECT_NEAR(report["f1"].get<double>(), 2.0 / 3, kExact);  // micro: precision and recall 2/3
  EXPECT_EQ(report["classes"][0]["f1"], 1);
  EXPECT_EQ(report["classes"][1]["f1"], 0);
  EXPECT_TRUE(report.contains("samples") && report.contains("macro"));
  labels.threshold = 0.5;
  EXPECT_NE(label_report(set)["f1"], report["f1"]);
}

TEST(LabelReport, OfNumbersHasTheErrorsOnTheirOwnScale) {
  const LabelSet labels{.form = LabelForm::number, .mean = 10, .deviation = 2};
  const std::vector<Prediction> said{{.number = 10}, {.number = 12}, {.number = 17}};
  const std::vector<Label> gold{{.number = 11}, {.number = 12}, {.number = 15}};
  const JudgedSet set{labels, said, gold};
  const ReportJson report = label_report(set);
  EXPECT_EQ(keys_of(report), (std::vector<std::string>{"examples", "labels", "loss", "mse", "rmse", "mae", "r2",
                                                       "pearson", "spearman"}));
  EXPECT_NEAR(report["mse"].get<double>(), 5.0 / 3, kExact);
  EXPECT_NEAR(report["mae"].get<double>(), 1, kExact);
  EXPECT_NEAR(report["loss"].get<double>(), 5.0 / 3 / 4, kExact);  // in deviations
  EXPECT_NEAR(report["spearman"].get<double>(), 1, kExact);
  EXPECT_NEAR(figure(label_figures(set), "mse"), 5.0 / 3, kExact);
}

// All labels are equal: correlations are 0 / 0. JSON has no NaN, and a figure decides.
TEST(LabelReport, OfEqualNumbersHasNoCorrelation) {
  const LabelSet labels{.form = LabelForm::number};
  const std::vector<Prediction> said{{.number = 1}, {.number = 2}};
  const std::vector<Label> gold{{.number = 1}, {.number = 1}};
  const JudgedSet set{labels, said, gold};
  EXPECT_TRUE(label_report(set)["spearman"].is_null());
  EXPECT_EQ(figure(label_figures(set), "spearman"), 0);
}

// Four words, one of them cut and one text shorter than its labels: two are judged, one of them right.
TEST(LabelReport, OfWordsLeavesOutThoseThatWereCut) {
  const LabelSet labels{.form = LabelForm::tokens, .names = {"0", "1"}};
  const std::vector<Prediction> said{{.words = {{0.75, 0.25}, {0.75, 0.25}, {}}}, {}};
  const std::vector<Label> gold{{.classes = {0, 1, 1}}, {.classes = {0}}};
  const JudgedSet set{labels, said, gold};
  const ReportJson report = label_report(set);
  EXPECT_EQ(report["examples"], 2);
  EXPECT_EQ(report["words"], 4);
  EXPECT_EQ(report["words_not_read"], 2);
  EXPECT_EQ(report["accuracy"], 0.5);
  EXPECT_NEAR(report["loss"].get<double>(), -(std::log(0.75) + std::log(0.25)) / 2, kExact);
  EXPECT_EQ(report["confusion"], ReportJson::parse("[[1, 0], [1, 0]]"));
}

TEST(LabelReport, OfNoWordsHasNoScores) {
  const LabelSet labels{.form = LabelForm::tokens, .names = {"0", "1"}};
  const std::vector<Prediction> said{{}};
  const std::vector<Label> gold{{.classes = {0}}};
  EXPECT_FALSE(label_report({labels, said, gold}).contains("accuracy"));
  EXPECT_EQ(label_figures({labels, said, gold}), (Figures{{"loss", 0}}));
}

TEST(LabelReport, IsFiniteWhereAProbabilityIsZero) {
  const LabelSet labels{.form = LabelForm::one, .names = {"no", "yes"}};
  const std::vector<Prediction> said{{.probabilities = {1, 0}}};
  const std::vector<Label> gold{{.classes = {1}}};
  EXPECT_TRUE(std::isfinite(mean_loss({labels, said, gold})));
}

}  // namespace
}  // namespace heed::testing
