#include "heed/attention/parameters.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/base/nearest.h"
#include "heed/torch_support/torch_version.h"

namespace heed {
namespace {

std::string shown(const std::vector<int64_t>& shape, int64_t heads = 0) {
  std::vector<std::string> sizes;
  if (heads > 0) sizes.push_back(std::to_string(heads));
  for (const int64_t size : shape) sizes.push_back(size == Sizes::kAny ? "Dh" : std::to_string(size));
  return "[" + joined(sizes) + "]";
}

/// Whether a shape matches a declared one from axis `first` on; sets `any` to the size that matches kAny.
bool fits(at::IntArrayRef shape, size_t first, const std::vector<int64_t>& declared, int64_t& any) {
  if (shape.size() != declared.size() + first) return false;
  int64_t found = any;
  for (size_t i = 0; i < declared.size(); ++i) {
    const int64_t size = shape[i + first];
    if (declared[i] == Sizes::kAny && found == Sizes::kAny) found = size;
    if (size != (declared[i] == Sizes::kAny ? found : declared[i])) return false;
  }
  any = found;
  return true;
}

[[noreturn]] void refuse_parameter(const std::string& part, const std::string& name,
                                   const std::vector<ParameterSpec>& declared) {
  std::vector<std::string> names;
  for (const auto& spec : declared) names.push_back(spec.name);
  fail(part, ": unknown parameter '", name, "'", suggestion(name, names),
       names.empty() ? "; it has none" : "; expected " + joined(names));
}

}  // namespace

std::string to_string(Dimensionality dimensionality) {
  switch (dimensionality) {
    case Dimensionality::single:
      return "single";
    case Dimensionality::multi:
      return "multi";
    case Dimensionality::elementwise:
      return "multi(elementwise)";
    case Dimensionality::lift:
      return "multi(lift)";
  }
  fail("dimensionality: not one of the four");
}

const Tensor& Parameters::operator[](const std::string& name) const {
  const auto found = by_name_.find(name);
  check(found != by_name_.end(), "parameters: '", name, "' is missing");
  return found->second;
}

Tensor Parameters::get(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? Tensor() : found->second;
}

Parameters Parameters::of(const std::string& part) const {
  Parameters own;
  own.sizes_ = sizes_;
  for (const auto& [name, tensor] : by_name_)
    if (name.rfind(part + ".", 0) == 0) own.by_name_[name.substr(part.size() + 1)] = tensor;
  return own;
}

Tensor Parameters::spread(const std::string& name, int64_t between) const {
  const Tensor& x = (*this)[name];
  if (x.dim() == 1) return x;
  std::vector<int64_t> shape(static_cast<size_t>(between) + 2, 1);
  shape.front() = x.size(0);
  shape.back() = x.size(1);
  return x.view(shape);
}

std::vector<Tensor> Parameters::values() const {
  std::vector<Tensor> all;
  for (const auto& [name, tensor] : by_name_) all.push_back(tensor);
  return all;
}

Parameters Parameters::with_values(const std::vector<Tensor>& tensors, size_t first) const {
  Parameters other = *this;
  for (auto& [name, tensor] : other.by_name_) tensor = tensors[first++];
  return other;
}

Tensor project(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.dim() == 2 && bias.dim() <= 1) return at::linear(x, weight, optional(bias));
  const auto rows = x.flatten(2, -2);  // [B, H, L, in]
  auto y = at::matmul(rows, weight.transpose(-1, -2));
  if (bias.defined()) y = y + (bias.dim() == 1 ? bias : bias.unsqueeze(-2));
  auto shape = x.sizes().vec();
  shape[1] = y.size(1);
  shape.back() = y.size(-1);
  return y.view(shape);
}

std::ostream& operator<<(std::ostream& out, const ShapeText& shape) {
  return out << (shape.tensor.defined() ? shown(shape.tensor.sizes().vec()) : "undefined");
}

int64_t check_parameters(const std::string& part, const std::vector<ParameterSpec>& declared, const Parameters& given,
                         int64_t heads, const Tensor& like) {
  for (const auto& item : given) {
    const auto has_its_name = [&](const ParameterSpec& spec) { return spec.name == item.first; };
    if (std::none_of(declared.begin(), declared.end(), has_its_name)) refuse_parameter(part, item.first, declared);
  }
  int64_t any = Sizes::kAny;
  for (const auto& spec : declared) {
    const Tensor tensor = given.get(spec.name);
    if (!tensor.defined()) fail(part, ": parameter '", spec.name, "' ", shown(spec.shape), " is missing");
    const bool per_head = tensor.dim() == static_cast<int64_t>(spec.shape.size()) + 1;
    const bool fine = per_head ? tensor.size(0) == heads && fits(tensor.sizes(), 1, spec.shape, any)
                               : fits(tensor.sizes(), 0, spec.shape, any);
    if (!fine)
      fail(part, ": parameter '", spec.name, "' is ", shape_of(tensor), ", expected ", shown(spec.shape), " (or ",
           shown(spec.shape, heads), ", one for each head)",
           any == Sizes::kAny ? "" : "; Dh is " + std::to_string(any) + " by the others");
    check(tensor.scalar_type() == like.scalar_type(), part, ": parameter '", spec.name, "' is ", tensor.scalar_type(),
          ", the query is ", like.scalar_type(), "; convert one of them");
    check(tensor.device() == like.device(), part, ": parameter '", spec.name, "' is on ", tensor.device(),
          ", the query on ", like.device(), "; move one of them");
  }
  return any;
}

}  // namespace heed
