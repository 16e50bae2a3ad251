#include "heed/metrics/multi_label.h"

#include "heed/metrics/examples.h"
#include "heed/metrics/share.h"

namespace heed {
namespace {

void check_labels(const char* kind, const LabelRows& rows, size_t classes) {
  for (size_t i = 0; i < rows.size(); ++i)
    check(rows[i].size() == classes, "metrics/multi_label: got ", rows[i].size(), ' ', kind, " labels for example ", i,
          ", expected ", classes);
}

void count(HitCounts& counts, bool predicted, bool gold) {
  counts.hits += predicted && gold ? 1 : 0;
  counts.predicted += predicted ? 1 : 0;
  counts.gold += gold ? 1 : 0;
}

}  // namespace

MultiLabelScores multi_label_scores(const LabelRows& predicted, const LabelRows& gold) {
  check_examples("multi_label", predicted.size(), gold.size());
  const size_t n = gold.size(), classes = gold[0].size();
  check(classes > 0, "metrics/multi_label: got no classes, expected at least 1");
  check_labels("gold", gold, classes);
  check_labels("predicted", predicted, classes);
  std::vector<HitCounts> by_class(classes), by_example(n);
  int64_t right_examples = 0, wrong_labels = 0;
  for (size_t i = 0; i < n; ++i) {
    right_examples += predicted[i] == gold[i] ? 1 : 0;
    for (size_t c = 0; c < classes; ++c) {
      count(by_class[c], predicted[i][c], gold[i][c]);
      count(by_example[i], predicted[i][c], gold[i][c]);
      wrong_labels += predicted[i][c] != gold[i][c] ? 1 : 0;
    }
  }
  return {.subset_accuracy = share(right_examples, static_cast<int64_t>(n)),
          .hamming_loss = share(wrong_labels, static_cast<int64_t>(n * classes)),
          .classes = precision_recall(by_class),
          .macro = macro_average(by_class),
          .micro = micro_average(by_class),
          .weighted = weighted_average(by_class),
          .samples = macro_average(by_example)};
}

}  // namespace heed
