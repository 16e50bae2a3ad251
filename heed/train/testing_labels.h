// Tiny runs of the task classify for tests: files of examples, and recipes that train on them in a moment.

#pragma once

#include <string>
#include <vector>

#include "heed/train/task.h"
#include "heed/train/testing_run.h"

namespace heed::testing {

inline constexpr const char* kTinyLabels =
    R"(data: {train: reviews, reviews: {train: 60, dev: 12, test: 6}, lowercase: true}
model:
  embedding: {dim: 8, dropout: 0.2}
  features: {kind: recurrent, dim: 8, num_layers: 2, dropout: 0.3}
  attention: {mechanism: additive + softmax, dropout: 0.1}
)";

/// The task without a training loop, and so without its keys.
inline std::shared_ptr<Task> labels_task(const std::vector<std::string>& overrides) {
  return Task::Parts::make("classify",
                           parse_recipe(std::string(kTinyLabels) + "train: {batch_tokens: 200}\n", "tiny", overrides),
                           TaskEnvironment{});
}

inline TrainResult train_labels(const std::string& folder, std::vector<std::string> overrides = {},
                                TrainCall call = {}) {
  overrides.push_back("run.dir=" + folder);
  call.quiet = true;
  return train(
      parse_recipe(std::string("task: classify\n") + kTinyLabels +
                       "train: {max_steps: 24, max_epochs: 0, batch_tokens: 200, lr: 0.01, checkpoint_every: 5, "
                       "log_every: 2, validate_every: 10, ema_decay: 0.9}\n",
                   "tiny", overrides),
      call);
}

}  // namespace heed::testing
