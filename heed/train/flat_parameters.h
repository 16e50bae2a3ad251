// All parameters of a module side by side in one tensor, and their slopes in another.
//
// The parameters become views of them. A norm, an optimiser's step, a moving average and a sum over processes are then
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
  at::Tensor& slopes() { return slopes_; }  // [n]
  int64_t count() const { return values_.numel(); }

  /// Before a backward pass.
  void zero_slopes();
  /// Brings slopes that autograd put elsewhere back into slopes().
  void gather_slopes();
  /// The first parameter that has a slope or a value that is not finite, or "".
  std::string not_finite() const;

 private:
  struct Part {
    std::string name;
    at::Tensor parameter;
    at::Tensor slopes;  // its view
  };
  std::vector<Part> parts_;
  at::Tensor values_, slopes_;
};

}  // namespace heed
