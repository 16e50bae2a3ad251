// metrics.jsonl: one JSON object per line, {"step": 100, "loss": 3.21, ...}.
//
// Non-finite numbers become null, because JSON cannot represent them.

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "heed/train/run/append_file.h"

namespace heed {

class MetricsLog {
 public:
  static constexpr const char* kName = "metrics.jsonl";

  explicit MetricsLog(const std::string& run) : file_(run + "/" + kName) {}

  /// Appends a line; keys keep their order. The line survives a kill of the process after the call returns.
  void write(const nlohmann::ordered_json& metrics);

  /// Size in bytes for a checkpoint, and truncation when resuming from it.
  int64_t size() const { return file_.synced_size(); }
  void truncate_to(int64_t bytes) { file_.truncate_to(bytes); }

 private:
  AppendFile file_;
};

}  // namespace heed
