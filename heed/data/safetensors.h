// Tensors in a file, by name, in the format of Hugging Face's safetensors:
//
//   8 bytes    N, the length of the header, little-endian
//   N bytes    the header, JSON, padded with whitespace:
//              {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, "__metadata__": {"key":
//              "text"}}
//   the rest   the tensors, row-major and little-endian, without holes; offsets count from here
//
// A file may come from anywhere: nothing is allocated for a tensor before the whole header has been found to agree with
// the size of the file, and whatever does not agree is an Error that names the file.

#pragma once

#include <map>
#include <string>

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}

namespace heed {

using NamedTensors = std::map<std::string, at::Tensor>;
using Metadata = std::map<std::string, std::string>;

struct Safetensors {
  NamedTensors tensors;  // on the CPU, contiguous, each with memory of its own
  Metadata metadata;
};

Safetensors load_safetensors(const std::string& path);

/// Tensors may be on any device and strided in any way. The file appears whole or not at all: it is written beside
/// `path` and then renamed, so a full disk or a kill leaves the old file as it was. The same tensors give the same
/// bytes.
void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});

/// Saves with a checksum: CRC-32 of names, types, shapes, values and metadata, as metadata "checksum".
void save_checked(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});
/// Refuses what was loaded from `path` without a checksum, or with another one than its content has.
void verify_checksum(const Safetensors& loaded, const std::string& path);

/// Every parameter and buffer of the module, under its name.
void save_parameters(const torch::nn::Module& module, const std::string& path, const Metadata& metadata = {});

/// Parameters and buffers of a module by name; they share its memory.
NamedTensors module_state(const torch::nn::Module& module);

/// The file must hold the module's parameters and buffers and nothing else, in the module's shapes and types. A file
/// that is refused leaves the module as it was.
void load_parameters(torch::nn::Module& module, const std::string& path);
/// The same from tensors that were read already; `path` is their file in messages.
void load_parameters(torch::nn::Module& module, const NamedTensors& tensors, const std::string& path);

}  // namespace heed
