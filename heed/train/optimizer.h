// Optimizers, by words: adam(0.9, 0.98), adamw(decay=0.01), sgd(momentum=0.9). They work on flat tensors; what they
// remember stands outside, in tensors with names, so that a checkpoint can hold it.
//
// (Those of libtorch in C++ keep a state for each parameter under keys that differ from version to version, and take
// some ten operations for each parameter and step.)

#pragma once

#include <map>
#include <string>

#include <ATen/core/Tensor.h>

#include "heed/base/catalogue.h"

namespace heed {

class Optimizer {
 public:
  static constexpr auto kKind = "optimizer";
  using State = std::map<std::string, at::Tensor>;  // [n] each; empty before the first step

  virtual ~Optimizer() = default;
  /// Moves values against gradients, both [n]; number: of this step, from 1.
  virtual void step(State& state, at::Tensor& values, const at::Tensor& grads, double rate, int64_t number) const = 0;

 protected:
  /// The tensor of that name, zeros at first.
  static at::Tensor& remembered(State& state, const std::string& name, const at::Tensor& like) {
    auto& tensor = state[name];
    if (!tensor.defined()) tensor = at::zeros_like(like);
    return tensor;
  }
};

}  // namespace heed
