#include "heed/train/flat_parameters.h"

#include "heed/base/check.h"

namespace heed {

FlatParameters::FlatParameters(torch::nn::Module& module) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> all;
  for (const auto& item : module.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    parts_.push_back({item.key(), item.value(), {}});
    all.push_back(item.value().flatten());
  }
  check(!all.empty(), "flat_parameters: the module has no parameter that is trained");
  values_ = at::cat(all);
  grads_ = at::zeros_like(values_);
  int64_t first = 0;
  for (auto& part : parts_) {
    const auto shape = part.parameter.sizes().vec();
    const int64_t count = part.parameter.numel();
    part.parameter.set_data(values_.narrow(0, first, count).view(shape));
    part.grads = grads_.narrow(0, first, count).view(shape);
    part.parameter.mutable_grad() = part.grads;
    first += count;
  }
}

void FlatParameters::zero_gradients() {
  if (values_.device().is_cpu()) {
    for (auto& part : parts_) part.parameter.mutable_grad().reset();
    return;
  }
  grads_.zero_();
}

std::vector<std::pair<int64_t, at::Tensor>> FlatParameters::gradients_of_parts() const {
  std::vector<std::pair<int64_t, at::Tensor>> all;
  for (const auto& part : parts_) {
    const auto& grad = part.parameter.grad();
    all.emplace_back(part.parameter.numel(), grad.defined() ? grad.contiguous() : grad);
  }
  return all;
}

void FlatParameters::gather_gradients() {
  const at::NoGradGuard no_grad;
  for (auto& part : parts_) {
    auto& grad = part.parameter.mutable_grad();
    if (grad.defined() && grad.is_same(part.grads)) continue;
    if (grad.defined())
      part.grads.copy_(grad);
    else
      part.grads.zero_();
    grad = part.grads;
  }
}

std::string FlatParameters::not_finite() const {
  for (const auto& part : parts_)
    if (!part.grads.isfinite().all().item<bool>() || !part.parameter.isfinite().all().item<bool>()) return part.name;
  return "";
}

}  // namespace heed
