// Checkpoints of a run: everything that is needed to go on, in one file that is replaced atomically. A resumed run
// gives the same bits as one that never stopped, so what would change them is refused: other data, threads, processes,
// device.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/train/training.h"

namespace heed {

/// Sizes of the files that only grow, at the moment of the checkpoint.
struct RecordSizes {
  int64_t metrics = 0, events = 0;
};

/// Writes the checkpoint of a run. config_md5: hash of config.json, which belongs to it.
void write_run_checkpoint(const std::string& path, const Training& training, const RecordSizes& records,
                          const std::string& config_md5);

/// A checkpoint to resume from.
class SavedRun {
 public:
  /// Reads the checkpoint in a run folder, and checks that config.json belongs to it.
  explicit SavedRun(const std::string& folder);

  const std::string& config_md5() const { return config_md5_; }
  /// Differences to the recipe in the checkpoint (recipe.yaml may have been edited since), one line per key. A change
  /// that would make it another run is an Error.
  std::vector<std::string> changes(const Training& training) const;
  /// Sets weights, optimizer, average, schedule, early stopping and state, and returns the sizes of the records.
  RecordSizes restore(Training& training) const;

 private:
  void check_same_machine(const Training& training) const;
  void check_same_data(const Training& training) const;
  void restore_tensors(Training& training) const;

  std::string folder_, config_md5_;
  Checkpoint saved_;
};

}  // namespace heed
