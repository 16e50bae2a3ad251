// Tensors in safetensors files (heed/data/safetensors.h describes the format), and the parameters of modules in them.

#pragma once

#include <map>
#include <string>

#include <ATen/core/Tensor.h>

#include "heed/data/safetensors_header.h"

namespace torch::nn {
class Module;
}

namespace heed {

using NamedTensors = std::map<std::string, at::Tensor>;

struct Safetensors {
  NamedTensors tensors;  // on the CPU, contiguous, each with memory of its own
  Metadata metadata;
};

Safetensors load_safetensors(const std::string& path);

/// Tensors may be on any device and strided in any way. The file appears whole or not at all: it is written next to
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
