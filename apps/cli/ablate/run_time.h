// How long runs of the grid take, from their files: of finished runs the seconds of training, of started ones those so
// far and the share of the steps that is done.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/ablate/plan.h"

namespace heed::cli {

struct RunTime {
  size_t cell = 0;
  double done = 0;                // seconds of training so far
  std::optional<double> total{};  // seconds of the whole training, if that can be said yet
  bool finished = false;
};

RunTime time_of(const GridRun& run);

/// Seconds until all of these runs are finished. A run that has not begun takes as long as those of its cell, or as all
/// on average; nothing if no total is known. overhead: of each run, for its start and evaluation. jobs: runs at once.
std::optional<double> seconds_left(const std::vector<RunTime>& runs, double overhead, int jobs);

/// Bytes of the files in a folder; 0 if there is none.
double disk_of(const std::string& folder);

}  // namespace heed::cli
