// The training loop: steps, validations and checkpoints in their order. It knows batches, the sum and the count of a
// loss, and metrics by name; everything else is the task's.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "heed/base/interrupt.h"
#include "heed/train/device_step.h"
#include "heed/train/train_report.h"
#include "heed/train/training.h"

namespace heed {

class TrainLoop {
 public:
  /// What the loop asks of the run: to write a checkpoint, to keep the weights of the model as the best, and to keep
  /// those of a validation among the last.
  struct Callbacks {
    std::function<void()> checkpoint, keep_model, keep_last;
  };
  TrainLoop(Training& training, TrainReport& report, Callbacks callbacks)
      : training_(training), report_(report), callbacks_(std::move(callbacks)) {}

  /// Trains until the run is done or a signal stops it. Returns the signal, or 0.
  int run(const InterruptScope& interrupt);

 private:
  void step();
  StepResult step_of_all();
  Loss forward_and_backward(const Share& share);
  void update(StepResult& result, double loss);
  void go_on(StepResult& result);
  void report_arrived(size_t missing);
  [[noreturn]] void diverged(const Share& share, const StepResult& result);
  bool validation_due() const;
  void validate();
  double validated_score();
  void save();

  Training& training_;
  TrainReport& report_;
  Callbacks callbacks_;
  int64_t expected_steps_ = 0;
  std::unique_ptr<DeviceStep> device_step_;  // null: the host waits for each step
  bool remarked_ = false;                    // its remark is in the log
};

}  // namespace heed
