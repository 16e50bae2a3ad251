// All parameters of a module side by side in one tensor, and their gradients in another.
//
// The parameters become views of them. A norm, an optimizer's step, a moving average and a sum over processes are then
// a few operations on one tensor each instead of some for every parameter, and a checkpoint holds them in one piece.

#pragma once

#include <string>
#include <vector>

#include <torch/nn/module.h>

namespace heed {

class FlatParameters {
 public:
  /// Those that are trained, on one device and of one type. Call it when the module stands where it shall stay.
  explicit FlatParameters(torch::nn::Module& module);

  at::Tensor& values() { return values_; }  // [n]
  at::Tensor& grads() { return grads_; }    // [n]
  int64_t count() const { return values_.numel(); }

  /// Before a backward pass.
  void zero_gradients();
  /// Brings gradients that autograd put elsewhere back into gradients().
  void gather_gradients();
  /// The first parameter that has a gradient or a value that is not finite, or "".
  std::string not_finite() const;

 private:
  struct Part {
    std::string name;
    at::Tensor parameter;
    at::Tensor grads;  // its view
  };
  std::vector<Part> parts_;
  at::Tensor values_, grads_;
};

}  // namespace heed
