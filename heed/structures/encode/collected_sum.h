// A tensor that every step of a recurrent network reads, such as the source of a decoder. Its gradients accumulate in
// one buffer; autograd would allocate new memory for each sum. When backward is itself differentiated, autograd
// computes the sum.

#pragma once

#include <torch/types.h>

namespace heed {

using at::Tensor;

/// The sum of the gradients of one pass so far.
struct GradientSum : torch::CustomClassHolder {
  Tensor sum;
};

class CollectedSum {
 public:
  CollectedSum() = default;
  /// x may be undefined. Use one object for one forward pass; discard a graph whose backward threw.
  explicit CollectedSum(const Tensor& x);
  /// x for one step.
  Tensor for_step() const;

 private:
  Tensor x_;  // output of the autograd node that returns the sum, if x requires a gradient
  c10::intrusive_ptr<GradientSum> grads_;
};

}  // namespace heed
