// Scores of multi-label classification, equal to scikit-learn's with zero_division=0.
//
//   subset accuracy = share of the examples whose labels are all right
//   Hamming loss = wrong labels / (examples classes)
//   precision, recall, F1 of each class, macro, micro and weighted: precision_recall.h
//   samples: mean over the examples, each with the hits, predicted and gold labels of its own; an example without any
//   label, predicted or gold, counts as 0

#pragma once

#include <vector>

#include "heed/metrics/precision_recall.h"

namespace heed {

using LabelRows = std::vector<std::vector<bool>>;  // [n][classes]

struct MultiLabelScores {
  double subset_accuracy = 0, hamming_loss = 0;
  std::vector<PrecisionRecall> classes;  // by class id
  PrecisionRecall macro, micro, weighted, samples;
};

MultiLabelScores multi_label_scores(const LabelRows& predicted, const LabelRows& gold);

}  // namespace heed
