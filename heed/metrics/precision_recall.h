// Precision, recall and F1 of classes, and their averages. 0/0 is 0, as scikit-learn has it with zero_division=0.
//
//   precision = hits / predicted,   recall = hits / gold,   F1 = 2 hits / (predicted + gold)
//
//   macro      mean over the classes; one that is never gold nor predicted counts as 0
//   micro      of the counts summed over the classes
//   weighted   sum_c gold_c x_c / sum_c gold_c; F1 is averaged, not that of the averages

#pragma once

#include <cstdint>
#include <vector>

namespace heed {

/// Counts of one class, or of one example in multi-label classification.
struct HitCounts {
  int64_t hits = 0;  // predicted and gold
  int64_t predicted = 0, gold = 0;
};

struct PrecisionRecall {
  double precision = 0, recall = 0, f1 = 0;
  int64_t support = 0;  // gold; of an average: the sum
};

PrecisionRecall precision_recall(const HitCounts& counts);
std::vector<PrecisionRecall> precision_recall(const std::vector<HitCounts>& counts);

PrecisionRecall macro_average(const std::vector<HitCounts>& counts);
PrecisionRecall micro_average(const std::vector<HitCounts>& counts);
PrecisionRecall weighted_average(const std::vector<HitCounts>& counts);

}  // namespace heed
