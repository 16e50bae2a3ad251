// What an ablation found: for each cell its figures over the seeds, the test against the first cell, and what it cost.
//
// The test resamples sentences or examples, the same for both cells, and takes the mean of the scores of all seeds that
// both have finished (heed/metrics/significance.h: paired bootstrap, Holm's correction over all cells). It says nothing
// about other seeds. For these there is Student's t interval of the differences, one for each of those seeds.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/ablate/attention_gold.h"
#include "apps/cli/ablate/figure.h"
#include "apps/cli/ablate/plan.h"
#include "apps/cli/provenance.h"
#include <nlohmann/json_fwd.hpp>

#include "heed/metrics/significance.h"

namespace heed::cli {

struct CellSummary {
  Cell cell;
  size_t finished = 0, left = 0;                                // runs
  std::vector<std::pair<std::string, std::string>> failures{};  // title of the run, reason
  std::vector<SeedFigures> figures{};                           // of AblationSummary::figures, in that order
  std::optional<double> parameters{}, tokens_per_second{}, train_seconds{};  // means
  std::optional<double> peak_memory{};                                       // the largest
  std::vector<std::pair<std::string, std::string>> unmeasured{};  // titles of runs without figures against gold, why
  std::optional<Comparison> against_first{};
  std::optional<SeedFigures> difference{};  // the figure less that of the first cell, by the seeds that both have

  std::vector<int64_t> compared_seeds() const;
  /// Whether it is another one than the first: p < 0.05 after the correction, and 0 is in neither of the intervals of
  /// the difference, over examples and over seeds.
  bool differs_from_first() const;
};

struct AblationSummary {
  Plan plan;
  std::string folder;
  std::vector<Figure> figures{};  // the quality comes first; empty: no run has finished
  std::vector<CellSummary> cells{};
  std::optional<AttentionGold> gold{};  // what the attention of the runs is compared with
  std::vector<std::string> remarks{};
  ResamplingOptions resampling{};
  Provenance origin{};

  size_t count(size_t CellSummary::*what) const;
  size_t failures() const;
  /// Runs whose attention could not be measured.
  size_t unmeasured() const;
};

/// Reads the runs of a folder.
AblationSummary summarize(const Plan& plan, const std::string& folder);

nlohmann::ordered_json as_json(const AblationSummary& summary);

}  // namespace heed::cli
