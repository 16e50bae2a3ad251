// What a grid will take, before it runs: minutes and disk, from runs of it that have finished, or from the first steps
// of one run in a temporary folder.

#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/ablate/plan.h"
#include "apps/cli/ablate/trial.h"
#include <nlohmann/json_fwd.hpp>

namespace heed::cli {

struct DryRun {
  size_t cells = 0, seeds = 0, finished = 0, started = 0, failed = 0, untouched = 0;
  std::vector<std::string> left{};                             // titles of the runs that would be trained
  std::vector<std::pair<std::string, std::string>> refused{};  // names of cells that do not start, and why
  int jobs = 1;
  Estimate estimate;
  std::optional<double> seconds{}, bytes{};  // of what is left

  size_t runs() const { return finished + started + failed + untouched; }
};

/// Counts the runs of a folder, which need not exist. program: the file of heed, to measure with. jobs: 0 as in grid.h.
DryRun dry_run(const Plan& plan, const std::string& folder, const std::string& program, int jobs);

void print_dry_run(std::ostream& out, const DryRun& found);
nlohmann::ordered_json as_json(const DryRun& found);

}  // namespace heed::cli
