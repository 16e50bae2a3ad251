// What a recipe says below `train` and `run`.

#pragma once

#include <memory>
#include <string>

#include "heed/base/settings.h"
#include "heed/train/optimizer.h"
#include "heed/train/schedule.h"

namespace heed {

struct TrainOptions {
  std::string folder;                     // run.dir, or runs/<name><what the command line changed> (run_name.h)
  int64_t max_epochs = 0, max_steps = 0;  // at most; 0: no limit of that kind
  uint64_t seed = 1;
  double lr = 0, clip_norm = 0;  // clip 0: not at all
  double ema_decay = 0;          // weight of the past in the moving average of the weights; 0: none
  int64_t accumulate = 1;        // batches of one step
  int64_t validate_every = 0;    // steps between validations; 0: once an epoch
  int64_t checkpoint_every = 0;  // steps between checkpoints, besides those at validations
  int64_t log_every = 0;         // steps between lines of metrics
  int64_t patience = 0;          // validations without a better figure before it stops; 0: never
  bool bfloat16 = false;
  std::string device;  // "cpu", "cuda", "cuda:1"
  std::shared_ptr<const Optimizer> optimizer;
  std::string optimizer_spec, schedule_spec;
};

TrainOptions read_train_options(const Settings& recipe);

}  // namespace heed
