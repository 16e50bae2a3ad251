// The header of a safetensors file (safetensors.h describes the format): names, element types, shapes, byte ranges and
// metadata. Plain bytes, without tensors.

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

/// An element type, as the header names it, and the bytes of an element.
struct Dtype {
  std::string_view name;
  int64_t bytes;
};

/// In the order of the reference implementation, which writes the last type first: wide elements come before narrow
/// ones, so every tensor starts at a multiple of its element's size.
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

/// An element of kDtypes, so that pointers compare as the order does; nullptr where there is none of that name.
const Dtype* find_dtype(std::string_view name);
/// "BOOL, U8, ..."
std::string known_dtypes();

inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the reference implementation's limit

/// What the header says of a tensor.
struct TensorEntry {
  const Dtype* dtype = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> offsets;  // begin, end; counted from the end of the header

  uint64_t begin() const { return static_cast<uint64_t>(offsets[0]); }
  uint64_t end() const { return static_cast<uint64_t>(offsets[1]); }
  uint64_t bytes() const { return end() - begin(); }
};

using NamedEntry = std::pair<const std::string, TensorEntry>;

struct SafetensorsHeader {
  std::map<std::string, TensorEntry> entries;
  Metadata metadata;
};

/// The header's JSON. `path` is its file in messages.
SafetensorsHeader parse_safetensors_header(const std::string& path, const std::string& text);
/// The tensors as they lie in the file; refuses a header whose tensors do not fill `data_bytes` without holes.
std::vector<const NamedEntry*> in_file_order(const std::string& path, const SafetensorsHeader& header,
                                             uint64_t data_bytes);
/// The header's JSON for entries in their order in the file, padded with whitespace to a multiple of 8 bytes.
std::string safetensors_header_text(const std::string& path,
                                    const std::vector<std::pair<std::string, TensorEntry>>& order,
                                    const Metadata& metadata);

/// 'name', with control characters escaped and of bounded length: it may come out of a hostile file.
std::string shown_name(const std::string& name);
/// "[2,3]"
std::string shape_text(const std::vector<int64_t>& shape);

/// Follows an `if`, not a check(): a header may name a million tensors, and building a message for each takes time.
template <typename... Parts>
[[noreturn]] void refuse_safetensors(const std::string& path, const Parts&... parts) {
  fail("safetensors: ", path, ": ", parts...);
}

}  // namespace heed
