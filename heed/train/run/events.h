// Writes scalars for TensorBoard to events.out.tfevents.0.heed.
//
//   file     record...            the first one holds file_version
//   record   u64 length | u32 masked crc32c(length) | Event | u32 masked crc32c(Event)      little-endian
//   Event    1: double wall_time   2: int64 step   3: string file_version   5: Summary
//   Summary  1: Value...           Value  1: string tag   2: float simple_value             (protocol buffers)
//
// The file name is the same for every start of a run, so that a resumed run continues the file.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/train/run/append_file.h"

namespace heed {

class Events {
 public:
  static constexpr const char* kName = "events.out.tfevents.0.heed";

  explicit Events(const std::string& run) : file_(run + "/" + kName) {}

  /// Appends the values of one step, by tag ("train/loss"); wall_time: seconds since 1970.
  void write(int64_t step, const std::vector<std::pair<std::string, double>>& values, double wall_time);

  /// Size in bytes for a checkpoint, and truncation when resuming from it.
  int64_t size() const { return file_.synced_size(); }
  void truncate_to(int64_t bytes) { file_.truncate_to(bytes); }

 private:
  AppendFile file_;
};

}  // namespace heed
