// Predictions against labels, as the figures of a validation and as the report of a run.

#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "heed/models/classify/classifier.h"
#include "heed/train/task.h"

namespace heed {

/// What a classifier said of a set, and what was right.
struct JudgedSet {
  const LabelSet& labels;
  const std::vector<Prediction>& predictions;
  const std::vector<Label>& gold;
};

/// The mean over texts or words of -log p of the label; of numbers the mean squared error in deviations.
double mean_loss(const JudgedSet& set);

/// "loss", then what is decided by and shown during training: accuracy and f1 (macro); of several labels f1 (micro);
/// of numbers mse and spearman.
Figures label_figures(const JudgedSet& set);

/// Every metric, by class too; a confusion matrix [gold][predicted] and calibration of single labels.
nlohmann::ordered_json label_report(const JudgedSet& set);

}  // namespace heed
