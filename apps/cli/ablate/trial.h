// Runs that are tried in a temporary folder before a grid is trained: whether heed train refuses them, and how fast
// their first steps are.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/ablate/plan.h"

namespace heed::cli {

struct Estimate {
  std::string from;  // what it is computed from
  std::optional<double> seconds_per_run{}, bytes_per_run{}, memory_per_run{};
};

/// Starts the runs and ends each as soon as it trains. Returns the reasons of those that never do, by cell. program:
/// the file of heed.
std::map<size_t, std::string> refused_cells(const Plan& plan, const std::vector<GridRun>& runs,
                                            const std::string& program);

/// Trains the first steps of a run.
Estimate measured(const Plan& plan, const GridRun& run, const std::string& program);

}  // namespace heed::cli
