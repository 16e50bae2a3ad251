// Activation functions that scores and policies select by name.

#pragma once

#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "heed/backend/tiled.h"
#include "heed/base/check.h"
#include "heed/base/spec.h"

namespace heed {

class Activation {
 public:
  /// Reads the option `activation` (default: tanh).
  explicit Activation(const Options& options) : name_(options.choice("activation", names())) {}

  static std::vector<std::string> names() { return {"tanh", "relu", "sigmoid", "elu", "gelu", "silu", "identity"}; }

  at::Tensor operator()(const at::Tensor& x) const {
    if (name_ == "tanh") return at::tanh(x);
    if (name_ == "relu") return at::relu(x);
    if (name_ == "sigmoid") return at::sigmoid(x);
    if (name_ == "elu") return at::elu(x);
    if (name_ == "gelu") return at::gelu(x);
    if (name_ == "silu") return at::silu(x);
    check(name_ == "identity", "activation: '", name_, "' has a name but no formula");
    return x;
  }

  /// The same activation as the kernels' enum.
  KernelActivation in_kernels() const {
    using Kind = KernelActivation;
    if (name_ == "tanh") return Kind::tanh;
    if (name_ == "relu") return Kind::relu;
    if (name_ == "sigmoid") return Kind::sigmoid;
    if (name_ == "elu") return Kind::elu;
    if (name_ == "gelu") return Kind::gelu;
    if (name_ == "silu") return Kind::silu;
    check(name_ == "identity", "activation: '", name_, "' has a name but no kernel");
    return Kind::identity;
  }

 private:
  std::string name_;
};

}  // namespace heed
