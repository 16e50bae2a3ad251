#include "heed/metrics/classification.h"

#include <cmath>

#include "heed/metrics/examples.h"
#include "heed/metrics/share.h"

namespace heed {
namespace {

void check_class(const char* kind, size_t example, int64_t id, int64_t classes) {
  check(id >= 0 && id < classes, "metrics/classification: got ", kind, " class ", id, " for example ", example,
        ", expected 0 to ", classes - 1);
}

void check_matrix(const ConfusionMatrix& matrix) {
  int64_t sum = 0;
  for (const auto& row : matrix.counts) {
    check(row.size() == matrix.counts.size(), "metrics/classification: got a row of ", row.size(), " counts for ",
          matrix.counts.size(), " classes, expected a square matrix");
    for (const int64_t count : row) sum += count;
  }
  check(sum == matrix.n, "metrics/classification: got counts with the sum ", sum, ", expected n = ", matrix.n);
  check(matrix.n > 0, "metrics/classification: got no examples, expected at least 1");
}

std::vector<HitCounts> hit_counts(const ConfusionMatrix& matrix) {
  std::vector<HitCounts> all(matrix.counts.size());
  for (size_t g = 0; g < all.size(); ++g)
    for (size_t p = 0; p < all.size(); ++p) {
      all[g].gold += matrix.counts[g][p];
      all[p].predicted += matrix.counts[g][p];
      if (g == p) all[g].hits = matrix.counts[g][p];
    }
  return all;
}

double mean_recall(const std::vector<HitCounts>& counts) {
  double sum = 0;
  int64_t present = 0;
  for (const auto& one : counts) {
    sum += share(one.hits, one.gold);
    present += one.gold > 0 ? 1 : 0;
  }
  return sum / static_cast<double>(present);
}

/// n^2 - sum_c p_c^2 is summed as p_c (n - p_c): exactly 0 for one class, whatever n.
double matthews_correlation(const std::vector<HitCounts>& counts, int64_t examples) {
  const auto n = static_cast<double>(examples);
  double both = 0, of_predicted = 0, of_gold = 0;
  for (const auto& one : counts) {
    const auto hits = static_cast<double>(one.hits), p = static_cast<double>(one.predicted),
               t = static_cast<double>(one.gold);
    both += n * hits - p * t;
    of_predicted += p * (n - p);
    of_gold += t * (n - t);
  }
  return of_predicted == 0 || of_gold == 0 ? 0 : both / std::sqrt(of_predicted * of_gold);
}

}  // namespace

ConfusionMatrix confusion_matrix(const std::vector<int64_t>& predicted, const std::vector<int64_t>& gold,
                                 int64_t classes) {
  check(classes > 0, "metrics/classification: got ", classes, " classes, expected at least 1");
  check_examples("classification", predicted.size(), gold.size());
  const auto size = static_cast<size_t>(classes);
  ConfusionMatrix matrix{.counts = std::vector(size, std::vector<int64_t>(size)),
                         .n = static_cast<int64_t>(gold.size())};
  for (size_t i = 0; i < gold.size(); ++i) {
    check_class("predicted", i, predicted[i], classes);
    check_class("gold", i, gold[i], classes);
    ++matrix.counts[static_cast<size_t>(gold[i])][static_cast<size_t>(predicted[i])];
  }
  return matrix;
}

ClassificationScores classification_scores(const ConfusionMatrix& matrix) {
  check_matrix(matrix);
  const auto counts = hit_counts(matrix);
  const PrecisionRecall micro = micro_average(counts);
  return {.accuracy = micro.recall,
          .balanced_accuracy = mean_recall(counts),
          .matthews = matthews_correlation(counts, matrix.n),
          .classes = precision_recall(counts),
          .macro = macro_average(counts),
          .micro = micro,
          .weighted = weighted_average(counts)};
}

}  // namespace heed
