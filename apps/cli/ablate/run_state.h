// How far a run of the grid is. Its files alone say so, so that kill -9 at any moment leaves a state to go on from:
//
//   finished    results.json, which heed train writes last and whole
//   started     a checkpoint, which a new run has as soon as its folder exists: heed train --resume goes on, bit for
//   bit untouched   no folder, or one that was being prepared: heed train failed      <folder>.failed.json, which says
//   why. A run that a signal ended is tried again by the next call

#pragma once

#include <optional>
#include <string>

#include "apps/cli/ablate/plan.h"

namespace heed::cli {

enum class RunState { untouched, started, finished, failed };

RunState state_of(const GridRun& run);

struct RunFailure {
  int status = 0;      // exit status of heed train, 128 + the signal that ended it
  std::string reason;  // "recipe: model.attention.score is 'dott', ..."
};

/// Why a run failed, or nothing.
std::optional<RunFailure> failure_of(const GridRun& run);
void write_failure(const GridRun& run, const RunFailure& failure);
/// Forgets a failure if a signal was its cause, or in any case with `all`.
void forget_failure(const GridRun& run, bool all);

/// The reason in what heed train printed: its error, or the last line. status: its exit status.
std::string reason_in(const std::string& log, int status);

/// What to do with a run. held: another process is writing to it.
enum class RunAction { none, wait, start, resume };
RunAction action_for(RunState state, bool held);

/// The process that writes to a run, or to the folder where it is being prepared: "process 4711 on host node03"; or "".
std::string holder_of(const GridRun& run);

std::string log_of(const GridRun& run);

}  // namespace heed::cli
