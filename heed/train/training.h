// A run in training: what its recipe says, what it learns and how far it is. Shared by the loop (train_loop.h), the
// checkpoints (run_checkpoint.h) and the report (train_report.h).

#pragma once

#include <algorithm>
#include <chrono>
#include <memory>

#include <nlohmann/json.hpp>

#include "heed/base/memory.h"
#include "heed/train/early_stopping.h"
#include "heed/train/flat_parameters.h"
#include "heed/train/process_rank.h"
#include "heed/train/processes.h"
#include "heed/train/run/checkpoint.h"
#include "heed/train/task.h"
#include "heed/train/train_options.h"

namespace heed {

/// The state of a run in addition to its tensors. A count is a number of terms of the loss (Loss::count).
struct TrainState {
  int64_t step = 0, epoch = 0, position = 0;  // completed steps; current epoch; completed steps of it
  double seconds = 0;                         // of training before this start
  double loss = 0, count = 0;                 // since the last line of metrics
  double total_count = 0, step_seconds = 0;   // of all steps; without validations and checkpoints
  int64_t best_step = -1, validated = -1;     // steps of the best and of the last validation
  uint64_t peak_memory = 0;                   // bytes, the most of the starts before this one; 0: unknown
  bool done = false;                          // training is finished
};

/// The state as a checkpoint holds it, and back. Reading checks type and range of each field, except `position`, which
/// depends on the batches of the epoch.
nlohmann::json as_json(const TrainState& state);
TrainState read_train_state(const StateFields& fields);

struct Training {
  using Clock = std::chrono::steady_clock;

  Settings recipe;
  TrainOptions options;
  ProcessRank rank;
  at::Device device;
  std::shared_ptr<Processes> processes{};
  std::shared_ptr<Task> task{};
  std::unique_ptr<FlatParameters> flat{};  // the weights and their gradients
  Optimizer::State optimizer{};
  at::Tensor average{};  // moving average of the weights, if there is one
  std::shared_ptr<Schedule> schedule{};
  std::unique_ptr<EarlyStopping> stopping{};
  TrainState state{};
  Clock::time_point started = Clock::now();

  /// Whether this process writes the files of the run.
  bool is_main() const { return rank.rank == 0; }
  int64_t steps_of_epoch(int64_t epoch) const;
  /// An estimate: epochs differ by a batch or two.
  int64_t expected_steps() const;
  /// Whether max_epochs or max_steps is reached.
  bool limit_reached() const;
  /// Seconds of training, over all starts of the run.
  double seconds() const { return state.seconds + seconds_since(started); }
  /// The most memory of this process, in bytes, over all starts of the run.
  uint64_t peak_memory() const { return std::max(state.peak_memory, heed::peak_memory()); }

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
};

}  // namespace heed
