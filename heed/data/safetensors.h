// Reads and writes named tensors as bytes, in the safetensors format of Hugging Face:
//
//   8 bytes    N, the length of the header, little-endian
//   N bytes    the header, JSON, padded with whitespace:
//              {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, "__metadata__": {"key":
//              "text"}}
//   the rest   the tensors, row-major and little-endian, without gaps; offsets count from here
//
// Files are untrusted: the whole header is checked against the file size before any tensor is read, and every
// inconsistency is an Error that names the file. heed/torch_support/safetensors.h converts to and from at::Tensor.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/data/file.h"
#include "heed/data/safetensors_header.h"

namespace heed {

/// An open file with a checked header.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const Metadata& metadata() const { return header_.metadata; }
  /// The tensors in file order.
  const std::vector<const NamedEntry*>& entries() const { return order_; }
  /// Copies the bytes of an entry to `to`. A BOOL byte other than 0 and 1 is an Error.
  void read(const NamedEntry& entry, void* to) const;

 private:
  std::string path_;
  InputFile file_;
  uint64_t data_start_ = 0;
  SafetensorsHeader header_;
  std::vector<const NamedEntry*> order_;
};

/// A tensor to be written. `data` is called when the tensor is written, so that only one copy exists at a time.
struct TensorBytes {
  std::string name;
  const Dtype* dtype = nullptr;
  std::vector<int64_t> shape;
  std::function<std::shared_ptr<const void>()> data;

  uint64_t bytes() const;
};

/// Writes the file atomically (file.h): a full disk or a kill leaves the old file unchanged. `tensors` must be sorted
/// by name. The same tensors give the same bytes.
void write_safetensors(const std::string& path, std::vector<TensorBytes> tensors, const Metadata& metadata);

/// Metadata key of the checksum.
inline constexpr const char* kChecksum = "checksum";
/// "crc32:0123abcd": CRC-32 of names, dtypes, shapes, values and metadata except the checksum itself.
std::string safetensors_checksum(std::vector<TensorBytes> tensors, const Metadata& metadata);

}  // namespace heed
