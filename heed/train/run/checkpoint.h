// checkpoint.safetensors: the tensors of a run, and the rest of its state as JSON in the metadata. Reading verifies
// structure, format and checksum; each field of the state is verified when it is accessed.

#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "heed/torch_support/safetensors.h"

namespace heed {

/// An object in the state of a checkpoint. A missing field, another type or a value out of range is an Error that names
/// the file and the field.
class StateFields {
 public:
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

  /// `name`: path of the object for messages, such as "state" or "state.train_state".
  StateFields(std::string path, nlohmann::json content, std::string name = "state");

  int64_t integer(const std::string& key, int64_t min = 0, int64_t max = kMax) const;
  double number(const std::string& key) const;  // finite
  bool flag(const std::string& key) const;
  std::string text(const std::string& key) const;
  StateFields object(const std::string& key) const;
  const nlohmann::json& at(const std::string& key) const;

  const nlohmann::json& content() const { return content_; }
  /// Throws the Error for a field.
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

/// Writes the file atomically.
void save_checkpoint(const std::string& path, const NamedTensors& tensors, nlohmann::json state);
/// Reads and verifies a file; a damaged file or another format is an Error.
Checkpoint load_checkpoint(const std::string& path);

/// Throws an Error unless the tensor exists, has the dtype and shape of `like`, and is finite.
void check_tensor(const Checkpoint& checkpoint, const std::string& name, const at::Tensor& like);

}  // namespace heed
