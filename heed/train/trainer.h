// Training from a recipe into a run folder, for any task. The loop is in train_loop.h, checkpoints in run_checkpoint.h,
// what a run tells in train_report.h.
//
//   recipe.yaml              the resolved recipe, with every default
//   config.json, tokenizer*  what the task needs to use the model; format: 3, hashes of the tokenizers
//   model.safetensors        the best weights so far
//   checkpoint.safetensors   everything needed to resume: weights, optimizer state, average, epoch and position in it,
//   sizes of
//                            the files below; format: 3, the recipe, hashes of the data, a checksum
//   metrics.jsonl, events.out.tfevents.*, log.txt, results.json
//
// A checkpoint is one file that is replaced atomically, so a kill loses at most the steps since the last one. A resumed
// run is bitwise equal to an uninterrupted one: random numbers are functions of the seed and the step, the order of
// batches of the seed and the epoch, and the files are truncated to their sizes at the checkpoint.

#pragma once

#include <memory>
#include <string>

#include "heed/base/settings.h"
#include "heed/train/task.h"

namespace heed {

/// Options of a call of train() that are not part of the recipe.
struct TrainCall {
  bool resume = false;           // continue from the checkpoint in the run folder
  bool force = false;            // replace an existing run
  bool quiet = false;            // no progress bar and no log lines on the screen
  std::string program = "heed";  // name of this program in printed commands, quoted for a shell
};

struct TrainResult {
  std::string folder;
  bool interrupted = false;  // stopped by a signal; the checkpoint is written
  int signal = 0;            // the signal that stopped it, or 0
  int64_t step = 0, epoch = 0;
  double seconds = 0;  // of training, over all starts of the run
  nlohmann::ordered_json results{};
};

/// Reads the recipe, trains and evaluates. Unknown keys and invalid values are Errors; a file that cannot be written is
/// a WriteError.
TrainResult train(const Settings& recipe, const TrainCall& call = {});

}  // namespace heed
