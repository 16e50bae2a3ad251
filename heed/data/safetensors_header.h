// The header of a safetensors file (safetensors.h describes the format): names, element types, shapes, byte ranges and
// metadata. Independent of torch.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/check.h"

namespace heed {

using Metadata = std::map<std::string, std::string>;

/// An element type: its name in the header and its size in bytes.
struct Dtype {
  std::string_view name;
  int64_t bytes;
};

/// In the order of the reference implementation, which writes the last type first: wide elements precede narrow ones,
/// so every tensor is aligned to its element size.
inline constexpr std::array<Dtype, 10> kDtypes = {{{"BOOL", 1},
                                                   {"U8", 1},
                                                   {"I8", 1},
                                                   {"I16", 2},
                                                   {"F16", 2},
                                                   {"BF16", 2},
                                                   {"I32", 4},
                                                   {"F32", 4},
                                                   {"F64", 8},
                                                   {"I64", 8}}};

/// Pointer into kDtypes, so that pointers compare in its order; nullptr for an unknown name.
const Dtype* find_dtype(std::string_view name);
/// "BOOL, U8, ...", for messages.
std::string known_dtypes();

inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the reference implementation's limit

/// The header entry of a tensor.
struct TensorEntry {
  const Dtype* dtype = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> offsets;  // begin, end: bytes from the end of the header

  uint64_t begin() const { return static_cast<uint64_t>(offsets[0]); }
  uint64_t end() const { return static_cast<uint64_t>(offsets[1]); }
  uint64_t bytes() const { return end() - begin(); }
};

using NamedEntry = std::pair<const std::string, TensorEntry>;

struct SafetensorsHeader {
  std::map<std::string, TensorEntry> entries;
  Metadata metadata;
};

/// Parses the header's JSON. `path`: the file in messages.
SafetensorsHeader parse_safetensors_header(const std::string& path, const std::string& text);
/// The tensors in file order; an Error if they do not fill `data_bytes` without gaps or overlaps.
std::vector<const NamedEntry*> in_file_order(const std::string& path, const SafetensorsHeader& header,
                                             uint64_t data_bytes);
/// The header's JSON for entries in file order, padded with spaces to a multiple of 8 bytes.
std::string safetensors_header_text(const std::string& path,
                                    const std::vector<std::pair<std::string, TensorEntry>>& order,
                                    const Metadata& metadata);

/// 'name' for messages, with control characters escaped and limited length: the file is untrusted.
std::string shown_name(const std::string& name);
/// "[2,3]"
std::string shape_text(const std::vector<int64_t>& shape);

/// Throws an Error. Used after an `if` instead of check(): a header may have a million tensors, and check() would build
/// a message for each.
template <typename... Parts>
[[noreturn]] void refuse_safetensors(const std::string& path, const Parts&... parts) {
  fail("safetensors: ", path, ": ", parts...);
}

}  // namespace heed
