// The training loop: steps, validations, checkpoints, a run folder. It knows no task.
//
//   recipe.yaml              as resolved, every default written out
//   config.json, tokenizer*  what the task needs to use the model; format: 3, hashes of the tokenizers
//   model.safetensors        the best weights so far
//   checkpoint.safetensors   everything to go on from: weights, optimizer, average, where in which epoch, how long the
//                            files below were; format: 3, the recipe, hashes of the data, a checksum
//   metrics.jsonl, events.out.tfevents.*, log.txt, results.json
//
// A checkpoint is one file that replaces it whole, so a kill loses at most the steps since. Going on from it gives
// the same bits as never having stopped: random numbers are functions of the seed and the step, the order of batches of
// the seed and the epoch, and the files are cut back to where they were.

#pragma once

#include <memory>
#include <string>

#include "heed/base/settings.h"
#include "heed/train/task.h"

namespace heed {

struct TrainCall {
  bool resume = false;           // go on from the checkpoint in the run folder
  bool force = false;            // a run that is there is started over
  bool quiet = false;            // no progress bar, no lines but warnings
  std::string program = "heed";  // how commands that are printed call this program, quoted for a shell
};

struct TrainResult {
  std::string folder;
  bool interrupted = false;  // by the user; the checkpoint is written
  int signal = 0;            // that interrupted it
  int64_t step = 0, epoch = 0;
  double seconds = 0;  // of training, over all its parts
  nlohmann::ordered_json results{};
};

/// Reads the recipe, refuses what it does not know, trains, judges.
TrainResult train(const Settings& recipe, const TrainCall& call = {});

}  // namespace heed
