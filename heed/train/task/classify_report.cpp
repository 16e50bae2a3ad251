#include "heed/train/task/classify_report.h"

#include <algorithm>
#include <cmath>

#include "heed/metrics/calibration.h"
#include "heed/metrics/classification.h"
#include "heed/metrics/multi_label.h"
#include "heed/metrics/regression.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

/// -log p, finite where a probability underflows.
double surprise(double p) {
  return -std::log(std::max(p, 1e-30));
}

int64_t best_of(const std::vector<double>& p) {
  return std::max_element(p.begin(), p.end()) - p.begin();
}

/// Single labels: of texts, or of the words that were read.
struct SingleLabels {
  std::vector<int64_t> predicted, gold;
  std::vector<std::vector<double>> probabilities;
  int64_t unread = 0;  // words that were cut

  explicit SingleLabels(const JudgedSet& set) {
    for (size_t i = 0; i < set.gold.size(); ++i) {
      const auto& classes = set.gold[i].classes;
      if (set.labels.form == LabelForm::one) {
        add(set.predictions[i].probabilities, classes.front());
        continue;
      }
      const auto& words = set.predictions[i].words;
      for (size_t w = 0; w < classes.size(); ++w)
        if (w < words.size() && !words[w].empty())
          add(words[w], classes[w]);
        else
          ++unread;
    }
  }
  void add(const std::vector<double>& p, int64_t label) {
    probabilities.push_back(p);
    predicted.push_back(best_of(p));
    gold.push_back(label);
  }
};

LabelRows predicted_rows(const JudgedSet& set) {
  LabelRows rows;
  for (const auto& prediction : set.predictions) {
    rows.emplace_back();
    for (const double p : prediction.probabilities) rows.back().push_back(p >= set.labels.threshold);
  }
  return rows;
}

LabelRows gold_rows(const JudgedSet& set) {
  LabelRows rows;
  for (const auto& label : set.gold) {
    rows.emplace_back(static_cast<size_t>(set.labels.size()), false);
    for (const int64_t c : label.classes) rows.back()[static_cast<size_t>(c)] = true;
  }
  return rows;
}

RegressionScores number_scores(const JudgedSet& set) {
  std::vector<double> predicted, gold;
  for (size_t i = 0; i < set.gold.size(); ++i) {
    predicted.push_back(set.predictions[i].number);
    gold.push_back(set.gold[i].number);
  }
  return regression_scores(predicted, gold);
}

/// NaN becomes null: JSON has no NaN.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json as_json(const PrecisionRecall& scores) {
  return {{"precision", scores.precision}, {"recall", scores.recall}, {"f1", scores.f1}};
}

void add_classes(Json& report, const LabelSet& labels, const std::vector<PrecisionRecall>& classes) {
  for (size_t c = 0; c < classes.size(); ++c) {
    Json one{{"class", labels.names[c]}, {"support", classes[c].support}};
    one.update(as_json(classes[c]));
    report["classes"].push_back(std::move(one));
  }
}

void report_single(Json& report, const JudgedSet& set) {
  const SingleLabels all(set);
  if (set.labels.form == LabelForm::tokens) report["words"] = all.gold.size() + static_cast<size_t>(all.unread);
  if (all.unread > 0) report["words_not_read"] = all.unread;
  if (all.gold.empty()) return;
  const ConfusionMatrix matrix = confusion_matrix(all.predicted, all.gold, set.labels.size());
  const ClassificationScores scores = classification_scores(matrix);
  std::vector<double> confidence;
  std::vector<bool> right;
  for (size_t i = 0; i < all.gold.size(); ++i) {
    confidence.push_back(all.probabilities[i][static_cast<size_t>(all.predicted[i])]);
    right.push_back(all.predicted[i] == all.gold[i]);
  }
  const Calibration calibrated = calibration(confidence, right);
  report.update({{"accuracy", scores.accuracy},
                 {"balanced_accuracy", scores.balanced_accuracy},
                 {"f1", scores.macro.f1},
                 {"macro", as_json(scores.macro)},
                 {"micro", as_json(scores.micro)},
                 {"weighted", as_json(scores.weighted)},
                 {"matthews", scores.matthews},
                 {"calibration_error", calibrated.expected_error},
                 {"max_calibration_error", calibrated.max_error},
                 {"brier", brier_score(all.probabilities, all.gold)}});
  add_classes(report, set.labels, scores.classes);
  report["confusion"] = matrix.counts;
}

}  // namespace

double mean_loss(const JudgedSet& set) {
  double sum = 0;
  int64_t terms = 0;
  for (size_t i = 0; i < set.gold.size(); ++i) {
    const Prediction& said = set.predictions[i];
    const Label& gold = set.gold[i];
    switch (set.labels.form) {
      case LabelForm::one:
        sum += surprise(said.probabilities[static_cast<size_t>(gold.classes.front())]);
        ++terms;
        break;
      case LabelForm::several:
        for (size_t c = 0; c < said.probabilities.size(); ++c) {
          const bool applies = std::binary_search(gold.classes.begin(), gold.classes.end(), static_cast<int64_t>(c));
          sum += surprise(applies ? said.probabilities[c] : 1 - said.probabilities[c]);
        }
        ++terms;
        break;
      case LabelForm::number:
        sum += std::pow((said.number - gold.number) / set.labels.deviation, 2);
        ++terms;
        break;
      case LabelForm::tokens:
        for (size_t w = 0; w < std::min(gold.classes.size(), said.words.size()); ++w) {
          if (said.words[w].empty()) continue;
          sum += surprise(said.words[w][static_cast<size_t>(gold.classes[w])]);
          ++terms;
        }
        break;
    }
  }
  return sum / static_cast<double>(std::max<int64_t>(1, terms));
}

Figures label_figures(const JudgedSet& set) {
  Figures figures{{"loss", mean_loss(set)}};
  if (set.labels.form == LabelForm::number) {
    const RegressionScores scores = number_scores(set);
    figures.insert(figures.end(),
                   {{"mse", scores.mse}, {"spearman", std::isnan(scores.spearman) ? 0 : scores.spearman}});
  } else if (set.labels.form == LabelForm::several) {
    const MultiLabelScores scores = multi_label_scores(predicted_rows(set), gold_rows(set));
    figures.insert(figures.end(), {{"accuracy", scores.subset_accuracy}, {"f1", scores.micro.f1}});
  } else {
    const SingleLabels all(set);
    if (all.gold.empty()) return figures;
    const auto scores = classification_scores(confusion_matrix(all.predicted, all.gold, set.labels.size()));
    figures.insert(figures.end(), {{"accuracy", scores.accuracy}, {"f1", scores.macro.f1}});
  }
  return figures;
}

Json label_report(const JudgedSet& set) {
  Json report{{"examples", set.gold.size()}, {"labels", to_string(set.labels.form)}, {"loss", mean_loss(set)}};
  if (set.labels.form == LabelForm::number) {
    const RegressionScores scores = number_scores(set);
    report.update({{"mse", number(scores.mse)},
                   {"rmse", number(scores.rmse)},
                   {"mae", number(scores.mae)},
                   {"r2", number(scores.r2)},
                   {"pearson", number(scores.pearson)},
                   {"spearman", number(scores.spearman)}});
  } else if (set.labels.form == LabelForm::several) {
    const MultiLabelScores scores = multi_label_scores(predicted_rows(set), gold_rows(set));
    report.update({{"threshold", set.labels.threshold},
                   {"accuracy", scores.subset_accuracy},
                   {"hamming_loss", scores.hamming_loss},
                   {"f1", scores.micro.f1},
                   {"macro", as_json(scores.macro)},
                   {"micro", as_json(scores.micro)},
                   {"weighted", as_json(scores.weighted)},
                   {"samples", as_json(scores.samples)}});
    add_classes(report, set.labels, scores.classes);
  } else {
    report_single(report, set);
  }
  return report;
}

}  // namespace heed
