// Scores of single-label classification, equal to scikit-learn's with labels=range(classes) and zero_division=0.
//
//   C_gp: examples of the gold class g for which p is predicted;   t_c = sum_p C_cp,   p_c = sum_g C_gc,   n = sum_c
//   t_c
//
//   accuracy = sum_c C_cc / n
//   balanced accuracy = mean of C_cc / t_c over the classes with t_c > 0
//   precision_c = C_cc / p_c,   recall_c = C_cc / t_c,   F1_c = 2 C_cc / (p_c + t_c);   averages: precision_recall.h
//   Matthews correlation (Gorodkin, 2004) =
//       (n sum_c C_cc - sum_c p_c t_c) / sqrt((n^2 - sum_c p_c^2) (n^2 - sum_c t_c^2)),
//   0 where all gold classes are equal, or all predicted ones
//
// Macro and weighted averages are over all `classes`, whether they occur or not. All micro averages are the accuracy.

#pragma once

#include <cstdint>
#include <vector>

#include "heed/metrics/precision_recall.h"

namespace heed {

struct ConfusionMatrix {
  std::vector<std::vector<int64_t>> counts;  // [gold][predicted]
  int64_t n = 0;                             // sum of the counts
};

/// predicted, gold: one class id per example, 0 <= id < classes.
ConfusionMatrix confusion_matrix(const std::vector<int64_t>& predicted, const std::vector<int64_t>& gold,
                                 int64_t classes);

struct ClassificationScores {
  double accuracy = 0, balanced_accuracy = 0;
  double matthews = 0;                   // -1 to 1
  std::vector<PrecisionRecall> classes;  // by class id
  PrecisionRecall macro, micro, weighted;
};

ClassificationScores classification_scores(const ConfusionMatrix& matrix);

}  // namespace heed
