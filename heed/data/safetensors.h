// Tensors in a file, by name, in the format of Hugging Face's safetensors, as plain bytes:
//
//   8 bytes    N, the length of the header, little-endian
//   N bytes    the header, JSON, padded with whitespace:
//              {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, "__metadata__": {"key":
//              "text"}}
//   the rest   the tensors, row-major and little-endian, without holes; offsets count from here
//
// A file may come from anywhere: nothing is read of a tensor before the whole header has been found to agree with the
// size of the file, and whatever does not agree is an Error that names the file. heed/bridge/safetensors.h makes
// at::Tensor of it.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/data/file.h"
#include "heed/data/safetensors_header.h"

namespace heed {

/// An open file whose header agrees with its size.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const Metadata& metadata() const { return header_.metadata; }
  /// In their order in the file.
  const std::vector<const NamedEntry*>& entries() const { return order_; }
  /// Copies the bytes of an entry to `to`. Refuses a BOOL byte other than 0 and 1.
  void read(const NamedEntry& entry, void* to) const;

 private:
  std::string path_;
  InputFile file_;
  uint64_t data_start_ = 0;
  SafetensorsHeader header_;
  std::vector<const NamedEntry*> order_;
};

/// A tensor to be written. `data` is called when its bytes are due, so that one copy exists at a time.
struct TensorBytes {
  std::string name;
  const Dtype* dtype = nullptr;
  std::vector<int64_t> shape;
  std::function<std::shared_ptr<const void>()> data;

  uint64_t bytes() const;
};

/// Names in ascending order. The file appears whole or not at all: it is written next to `path` and then renamed, so
/// that a full disk or a kill leaves the old file as it was. The same tensors give the same bytes.
void write_safetensors(const std::string& path, std::vector<TensorBytes> tensors, const Metadata& metadata);

/// Key of the metadata that holds the checksum.
inline constexpr const char* kChecksum = "checksum";
/// "crc32:0123abcd": CRC-32 of names, types, shapes, values and metadata, without the checksum itself.
std::string safetensors_checksum(std::vector<TensorBytes> tensors, const Metadata& metadata);

}  // namespace heed
