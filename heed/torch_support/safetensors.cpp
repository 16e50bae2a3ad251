#include "heed/torch_support/safetensors.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "heed/base/check.h"
#include "heed/data/safetensors.h"

namespace heed {
namespace {

constexpr std::array<std::pair<std::string_view, at::ScalarType>, 10> kTypes = {{{"BOOL", at::kBool},
                                                                                 {"U8", at::kByte},
                                                                                 {"I8", at::kChar},
                                                                                 {"I16", at::kShort},
                                                                                 {"F16", at::kHalf},
                                                                                 {"BF16", at::kBFloat16},
                                                                                 {"I32", at::kInt},
                                                                                 {"F32", at::kFloat},
                                                                                 {"F64", at::kDouble},
                                                                                 {"I64", at::kLong}}};
static_assert(kTypes.size() == kDtypes.size());

/// nullptr for a type that the format does not have.
const Dtype* dtype_of(at::ScalarType type) {
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& pair) { return pair.second == type; });
  return found == kTypes.end() ? nullptr : find_dtype(found->first);
}

at::ScalarType scalar_type_of(const Dtype& dtype) {
  return std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& pair) { return pair.first == dtype.name; })->second;
}

/// The bytes of a tensor, wherever it is and however it is strided; a copy only where one is needed.
std::shared_ptr<const void> bytes_on_cpu(const at::Tensor& tensor) {
  const auto plain = std::make_shared<at::Tensor>(tensor.detach().to(at::kCPU).resolve_neg().contiguous());
  return {plain, plain->data_ptr()};
}

std::vector<TensorBytes> to_write(const std::string& path, const NamedTensors& tensors) {
  std::vector<TensorBytes> all;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined())
      refuse_safetensors(path, "tensor ", shown_name(name), " is undefined, expected one with data");
    const bool plain = tensor.layout() == at::kStrided && !tensor.is_meta();
    if (!plain)
      refuse_safetensors(path, "tensor ", shown_name(name), " is sparse or has no data, expected a dense one");
    const Dtype* dtype = dtype_of(tensor.scalar_type());
    if (dtype == nullptr)
      refuse_safetensors(path, "tensor ", shown_name(name), " is of type ", tensor.scalar_type(), ", expected one of ",
                         known_dtypes());
    all.push_back({name, dtype, tensor.sizes().vec(), [tensor = tensor] { return bytes_on_cpu(tensor); }});
  }
  return all;
}

/// "'a', 'b' and 3 more"
std::string some_of(const std::vector<std::string>& items) {
  constexpr size_t kMax = 8;
  const size_t count = std::min(items.size(), kMax);
  const std::string text = joined({items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count)});
  return items.size() > count ? text + " and " + std::to_string(items.size() - count) + " more" : text;
}

std::vector<std::string> names_without(const NamedTensors& all, const NamedTensors& without) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : all) {
    if (without.count(name) == 0) names.push_back(shown_name(name));
  }
  return names;
}

std::string form_text(const at::Tensor& tensor) {
  const Dtype* dtype = dtype_of(tensor.scalar_type());
  return std::string(dtype != nullptr ? std::string(dtype->name) : c10::toString(tensor.scalar_type())) + " " +
         shape_text(tensor.sizes().vec());
}

void expect_same_form(const std::string& path, const NamedTensors& got, const NamedTensors& state) {
  const auto missing = names_without(state, got), surplus = names_without(got, state);
  const std::string lacks = missing.empty() ? "" : "lacks " + some_of(missing);
  const std::string extra = surplus.empty() ? "" : "has " + some_of(surplus) + ", which the model does not know";
  const std::string both = lacks + (lacks.empty() || extra.empty() ? "" : "; it ") + extra;
  if (!both.empty()) refuse_safetensors(path, both, "; expected a file saved from the same model");

  std::vector<std::string> different;
  for (const auto& [name, tensor] : state) {
    const at::Tensor& other = got.at(name);
    const bool same = other.sizes() == tensor.sizes() && other.scalar_type() == tensor.scalar_type();
    if (!same) different.push_back(shown_name(name) + " is " + form_text(other) + ", expected " + form_text(tensor));
  }
  if (!different.empty())
    refuse_safetensors(path, some_of(different), "; build the model with the sizes and the type it was saved with");
}

}  // namespace

Safetensors load_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  Safetensors loaded{{}, file.metadata()};
  for (const auto* entry : file.entries()) {
    const auto& [name, says] = *entry;
    const at::Tensor tensor = at::empty(says.shape, at::TensorOptions(at::kCPU).dtype(scalar_type_of(*says.dtype)));
    file.read(*entry, tensor.data_ptr());
    loaded.tensors.emplace(name, tensor);
  }
  return loaded;
}

void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  write_safetensors(path, to_write(path, tensors), metadata);
}

void save_checked(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  Metadata checked = metadata;
  checked[kChecksum] = safetensors_checksum(to_write(path, tensors), metadata);
  save_safetensors(path, tensors, checked);
}

void verify_checksum(const Safetensors& loaded, const std::string& path) {
  const auto found = loaded.metadata.find(kChecksum);
  if (found == loaded.metadata.end())
    refuse_safetensors(path, "has no checksum, expected one in its metadata; the file is damaged");
  const std::string sum = safetensors_checksum(to_write(path, loaded.tensors), loaded.metadata);
  if (found->second != sum)
    refuse_safetensors(path, "the checksum of its content is ", sum, ", expected ", shown_name(found->second),
                       "; the file is damaged, restore it from a copy");
}

NamedTensors module_state(const torch::nn::Module& module) {
  NamedTensors state;
  for (const auto& item : module.named_parameters()) state.emplace(item.key(), item.value());
  for (const auto& item : module.named_buffers()) {
    check(state.emplace(item.key(), item.value()).second,
          "safetensors: the module has a parameter and a buffer called ", shown_name(item.key()),
          ", expected two names");
  }
  return state;
}

void save_parameters(const torch::nn::Module& module, const std::string& path, const Metadata& metadata) {
  save_safetensors(path, module_state(module), metadata);
}

void load_parameters(torch::nn::Module& module, const std::string& path) {
  load_parameters(module, load_safetensors(path).tensors, path);
}

void load_parameters(torch::nn::Module& module, const NamedTensors& tensors, const std::string& path) {
  NamedTensors state = module_state(module);
  expect_same_form(path, tensors, state);
  const torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : state) tensor.copy_(tensors.at(name));
}

}  // namespace heed
