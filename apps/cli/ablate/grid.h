// Trains the runs of a grid: `heed train` in a process for each, several at once.
//
// What a process gets depends on the plan alone, never on how many run at once, and every one has its own number of
// threads, so that results do not depend on it either.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/ablate/grid_progress.h"
#include "apps/cli/ablate/plan.h"

namespace heed::cli {

struct GridOptions {
  std::string program;  // the file of heed
  int jobs = 0;         // runs at once; 0: as processors and memory allow
  bool retry = false;   // also runs that failed before
};

/// Runs of one recipe.
struct GridWork {
  std::string recipe;  // its file
  int threads = 1;     // of each run
  std::vector<GridRun> runs;
  std::vector<std::vector<std::string>> overrides;    // of each run
  std::vector<std::string> overrides_when_resumed{};  // of each run that goes on
  std::string working_folder{};                       // of the processes; then all paths are absolute
};

/// Trains what is not finished. Returns the signal that stopped it, or 0: then every run is finished or has failed. On
/// a signal the runs end with a checkpoint.
int train_runs(const GridWork& work, const GridOptions& options, GridProgress& progress);
/// The same for all runs of a plan.
int train_grid(const Plan& plan, const std::string& folder, const GridOptions& options, GridProgress& progress);

}  // namespace heed::cli
