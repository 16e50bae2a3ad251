// What a run tells: log lines, the progress bar, metrics.jsonl, TensorBoard events, results.json. Names of metrics and
// the unit of counts are the task's.

#pragma once

#include <memory>
#include <string>

#include "heed/train/run/events.h"
#include "heed/train/run/log.h"
#include "heed/train/run/metrics_log.h"
#include "heed/train/run/progress.h"
#include "heed/train/run_checkpoint.h"
#include "heed/train/training.h"

namespace heed {

/// The result of one step, over all processes.
struct StepResult {
  double loss = 0, norm = 0, rate = 0;  // mean loss, norm of the gradients, learning rate
  int64_t count = 0;                    // terms of the loss
  int64_t step = 0, epoch = 0;          // steps completed with this one, and the epoch of the next one
};

class TrainReport {
 public:
  /// quiet: nothing on the screen.
  explicit TrainReport(bool quiet) : quiet_(quiet) {}

  /// Opens the files that only grow. Before that, and on other ranks than the first, only the bar is shown.
  void open_records(const std::string& folder);
  void open_log(const std::string& folder);
  bool has_log() const { return log_ != nullptr; }

  RecordSizes record_sizes() const;
  /// Cuts the records to their sizes at a checkpoint.
  void truncate_records(const RecordSizes& sizes);

  void log(const std::string& line);
  /// The first line: parameters, device, threads; then what the task has to say.
  void log_start(const Training& training, bool resumed);
  void clear_bar() { bar_.clear(); }
  /// After a step, in their order; a GPU may already compute later ones. The bar, and every log_every steps a line of
  /// metrics.
  void record_step(Training& training, const StepResult& result, int64_t expected_steps);
  /// After a validation. best: the weights are the best so far.
  void record_figures(const Training& training, const Figures& figures, bool best);

 private:
  struct Records {
    explicit Records(const std::string& folder) : metrics(folder), events(folder) {}
    MetricsLog metrics;
    Events events;
  };

  bool quiet_;
  Progress bar_;
  int64_t count_ = 0;  // since this start
  std::unique_ptr<Log> log_;
  std::unique_ptr<Records> records_;
};

/// results.json: the figures of the run, then those of Task::evaluate().
nlohmann::ordered_json run_results(const Training& training, double train_seconds);

}  // namespace heed
