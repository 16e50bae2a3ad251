// Optimizers, made from specs: adam(0.9, 0.98), adamw(weight_decay=0.01), sgd(momentum=0.9). They work on flat tensors.
// Their state is kept outside, in named tensors, so that it can be saved in a checkpoint.
//
// (The optimizers of libtorch keep a state per parameter under keys that differ between versions, and take about ten
// operations per parameter and step.)

#pragma once

#include <map>
#include <string>

#include <ATen/core/Tensor.h>

#include "heed/backend/flat_step.h"
#include "heed/base/catalogue.h"

namespace heed {

class Optimizer {
 public:
  static constexpr auto kKind = "optimizer";
  using State = std::map<std::string, at::Tensor>;  // [n] each; empty before the first step

  virtual ~Optimizer() = default;
  /// The definition: updates `values` [n] in place with `grads` [n]. rate: learning rate; number: index of this step,
  /// from 1.
  virtual void step(State& state, at::Tensor& values, const at::Tensor& grads, double rate, int64_t number) const = 0;
  /// The same step as data, with its state, for heed/backend/flat_step.h, which training uses.
  virtual FlatUpdate update(State& state, const at::Tensor& values) const = 0;

 protected:
  /// The state tensor of that name, initialized with zeros.
  static at::Tensor& remembered(State& state, const std::string& name, const at::Tensor& like) {
    auto& tensor = state[name];
    if (!tensor.defined()) tensor = at::zeros_like(like);
    return tensor;
  }
};

}  // namespace heed
