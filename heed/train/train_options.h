// The keys of a recipe below `train` and `run`.

#pragma once

#include <memory>
#include <string>

#include "heed/base/settings.h"
#include "heed/train/optimizer.h"
#include "heed/train/schedule.h"

namespace heed {

struct TrainOptions {
  std::string folder;                      // run.dir; default: runs/<name><overrides> (run_name.h)
  int64_t max_epochs = 20, max_steps = 0;  // 0: no limit; one of them is positive
  int64_t seed = 1;                        // of the initial weights, the order of batches and all random numbers
  double lr = 1e-3, clip_norm = 1;         // learning rate; largest gradient norm, 0: no clipping
  double ema_decay = 0;                    // decay of the moving average of the weights; 0: no average
  int64_t average_last = 0;                // validations whose weights are averaged at the end; 0: none
  int64_t accumulate = 1;                  // batches per step
  int64_t validate_every = 0;              // steps between validations; 0: once an epoch
  int64_t checkpoint_every = 500;          // steps between checkpoints, in addition to those at validations
  int64_t log_every = 50;                  // steps between lines of metrics.jsonl
  int64_t patience = 0;                    // validations without a new best before stopping; 0: never stops
  std::string precision = "float";         // or "bfloat16": autocast
  std::string device = "auto";             // "auto", "cpu", "cuda", "cuda:1"
  std::string capture = "auto";            // or "false": whether steps on a GPU may be captured (device_step.h)
  std::shared_ptr<const Optimizer> optimizer;
  std::string optimizer_spec = "adam", schedule_spec = "constant";

  bool bfloat16() const { return precision == "bfloat16"; }
};

/// Reads and checks the keys; an invalid value is an Error that names the key. Reads `name` as well.
TrainOptions read_train_options(const Settings& recipe);

}  // namespace heed
