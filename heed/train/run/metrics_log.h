// metrics.jsonl: one JSON object a line, {"step": 100, "loss": 3.21, ...}.
//
// A number that is not finite becomes null, since JSON has no word for it.

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "heed/train/run/append_file.h"

namespace heed {

class MetricsLog {
 public:
  static constexpr const char* kName = "metrics.jsonl";

  explicit MetricsLog(const std::string& run) : file_(run + "/" + kName) {}

  /// Keys keep their order. The line is the kernel's when this returns: a killed process loses none of it.
  void write(const nlohmann::ordered_json& metrics);

  /// For a checkpoint, and on resuming from it.
  int64_t size() const { return file_.synced_size(); }
  void truncate_to(int64_t bytes) { file_.truncate_to(bytes); }

 private:
  AppendFile file_;
};

}  // namespace heed
