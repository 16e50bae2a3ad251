#include "heed/parameters.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/backend/linear.h"
#include "heed/base/nearest.h"

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

Parameters::Parameters(std::initializer_list<std::pair<const std::string, Tensor>> given)
    : Parameters(std::map<std::string, Tensor>(given)) {}

Parameters::Parameters(const std::map<std::string, Tensor>& given) {
  auto names = std::make_shared<std::vector<std::string>>();
  auto tensors = std::make_shared<std::vector<Tensor>>();
  for (const auto& [name, tensor] : given) {
    names->push_back(name);
    tensors->push_back(tensor);
  }
  names_ = std::move(names);
  tensors_ = std::move(tensors);
  count_ = given.size();
}

size_t Parameters::find(std::string_view wanted) const {
  for (size_t i = 0; i < count_; ++i)
    if (name(i) == wanted) return i;
  return count_;
}

const Tensor& Parameters::operator[](std::string_view wanted) const {
  const size_t found = find(wanted);
  check(found < count_, "parameters: '", wanted, "' is missing");
  return at(found);
}

Tensor Parameters::get(std::string_view wanted) const {
  const size_t found = find(wanted);
  return found < count_ ? at(found) : Tensor();
}

void Parameters::set(std::string_view wanted, const Tensor& tensor) {
  std::map<std::string, Tensor> all;
  for (size_t i = 0; i < count_; ++i) all.emplace(name(i), at(i));
  all[std::string(wanted)] = tensor;
  Parameters changed(all);
  changed.sizes_ = sizes_;
  *this = std::move(changed);
}

Parameters Parameters::of(std::string_view part) const {
  const auto has_prefix = [&](size_t i) {
    const std::string_view whole = name(i);
    return whole.size() > part.size() && whole[part.size()] == '.' && whole.substr(0, part.size()) == part;
  };
  Parameters own = *this;
  size_t from = 0;
  while (from < count_ && !has_prefix(from)) ++from;
  size_t to = from;
  while (to < count_ && has_prefix(to)) ++to;
  own.first_ = first_ + from;
  own.count_ = to - from;
  own.skip_ = skip_ + part.size() + 1;
  return own;
}

Tensor Parameters::spread(std::string_view wanted, int64_t between) const {
  const Tensor& x = (*this)[wanted];
  if (x.dim() == 1) return x;
  std::vector<int64_t> shape(static_cast<size_t>(between) + 2, 1);
  shape.front() = x.size(0);
  shape.back() = x.size(1);
  return x.view(shape);
}

std::vector<Tensor> Parameters::values() const {
  std::vector<Tensor> all;
  for (size_t i = 0; i < count_; ++i) all.push_back(at(i));
  return all;
}

Parameters Parameters::with_values(const std::vector<Tensor>& tensors, size_t first) const {
  Parameters other = *this;
  if (count_ == 0) return other;
  auto list = std::make_shared<std::vector<Tensor>>(names_->size());
  for (size_t i = 0; i < count_; ++i) (*list)[first_ + i] = tensors[first + i];
  other.tensors_ = std::move(list);
  return other;
}

Parameters Parameters::without_tensors() const {
  return with_values(std::vector<at::Tensor>(count_), 0);
}

Tensor project(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.dim() == 2 && bias.dim() <= 1) return linear_layer(x, weight, bias);
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

void check_like(std::string_view what, const Tensor& tensor, const Tensor& query) {
  if (!tensor.defined()) return;
  check(tensor.scalar_type() == query.scalar_type(), what, " is ", tensor.scalar_type(), ", the query is ",
        query.scalar_type(), "; convert one of them");
  check(tensor.device() == query.device(), what, " is on ", tensor.device(), ", the query on ", query.device(),
        "; move one of them");
}

int64_t check_parameters(const std::string& part, const std::vector<ParameterSpec>& declared, const Parameters& given,
                         int64_t heads, const Tensor& like) {
  for (size_t i = 0; i < given.size(); ++i) {
    const auto has_its_name = [&](const ParameterSpec& spec) { return spec.name == given.name(i); };
    if (std::none_of(declared.begin(), declared.end(), has_its_name))
      refuse_parameter(part, std::string(given.name(i)), declared);
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
