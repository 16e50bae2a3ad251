// What the runs of a grid wrote for the sentences or examples of a set, as statistics that can be resampled: the figure
// of a run is the score of the sum of its rows.
//
//   accuracy   predictions.tsv: whether prediction and label agree
//   mse        predictions.tsv: the squared error
//   f1         predictions.tsv of several labels: classes in both, predicted and gold (micro)
//   bleu       hypotheses.txt, and the references from the text that the recipe of the run names

#pragma once

#include <string>
#include <vector>

#include "apps/cli/ablate/figure.h"

#include "heed/metrics/resampled.h"

namespace heed::cli {

class RunOutputs {
 public:
  explicit RunOutputs(Figure figure) : figure_(std::move(figure)) {}

  /// Rows of a run. An Error says why there are none: a file is missing, or its score is not that of results.json.
  Statistics read(const std::string& run_folder);

 private:
  Statistics statistics_of(const std::string& run_folder);
  const std::vector<std::string>& references(const std::string& run_folder);

  Figure figure_;
  std::vector<std::string> references_{};  // of BLEU, read once
};

/// Statistics of a cell: those of its seeds side by side, with the mean of their scores as the score.
Statistics over_seeds(const std::vector<Statistics>& seeds);

}  // namespace heed::cli
