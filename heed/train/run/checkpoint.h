// checkpoint.safetensors: the tensors of a run, and the rest of its state as JSON in the metadata. It is verified when
// it is read: structure, format, checksum, and each field of the state when it is asked for.

#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "heed/bridge/safetensors.h"

namespace heed {

/// Part of a checkpoint's state. A field that is missing, of another type or out of range is refused with the file.
class StateFields {
 public:
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

  /// `name`: "state" or "state.reached", for messages.
  StateFields(std::string path, nlohmann::json content, std::string name = "state");

  int64_t integer(const std::string& key, int64_t min = 0, int64_t max = kMax) const;
  double number(const std::string& key) const;  // finite
  bool flag(const std::string& key) const;
  std::string text(const std::string& key) const;
  StateFields object(const std::string& key) const;
  const nlohmann::json& at(const std::string& key) const;

  const nlohmann::json& content() const { return content_; }
  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const;

 private:
  std::string path_, name_;
  nlohmann::json content_;
};

struct Checkpoint {
  std::string path;
  NamedTensors tensors;
  StateFields state;
};

void save_checkpoint(const std::string& path, const NamedTensors& tensors, nlohmann::json state);
Checkpoint load_checkpoint(const std::string& path);

/// Refuses a tensor of another type or shape, or with NaN or infinite values.
void check_tensor(const Checkpoint& checkpoint, const std::string& name, const at::Tensor& like);

}  // namespace heed
