// All trainable parameters of a module in one contiguous tensor, and their gradients in another.
//
// The parameters become views of these tensors. A norm, an optimizer step, a moving average and a sum over processes
// are then a few operations on one tensor instead of several per parameter, and a checkpoint stores one tensor.

#pragma once

#include <string>
#include <vector>

#include <torch/nn/module.h>

namespace heed {

class FlatParameters {
 public:
  /// Takes the parameters that require gradients; they must have one device and dtype. Move the module to its device
  /// first.
  explicit FlatParameters(torch::nn::Module& module);

  at::Tensor& values() { return values_; }  // [n]
  at::Tensor& grads() { return grads_; }    // [n]
  int64_t count() const { return values_.numel(); }

  /// Sets all gradients to 0; call it before a backward pass. On the CPU the parameters have none then, and autograd
  /// hands over the tensors that it computes instead of adding them to zeros.
  void zero_gradients();
  /// The gradients of each parameter where they lie after a backward pass, for FlatTensors::parts: contiguous, or
  /// undefined if none arrived.
  std::vector<std::pair<int64_t, at::Tensor>> gradients_of_parts() const;
  /// Copies gradients that autograd stored in other tensors back into grads(); call it after a backward pass.
  void gather_gradients();
  /// Name of the first parameter with a non-finite gradient or value; "" if there is none.
  std::string not_finite() const;

 private:
  struct Part {
    std::string name;
    at::Tensor parameter;
    at::Tensor grads;  // view of grads_
  };
  std::vector<Part> parts_;
  at::Tensor values_, grads_;
};

}  // namespace heed
