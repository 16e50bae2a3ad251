// The same tensor at every step of a recurrent network, such as the source that a decoder looks at. Its gradients are
// added up in one place: autograd would find new memory for each sum. Where backward is itself being differentiated,
// the sum is autograd's.

#pragma once

#include <torch/types.h>

namespace heed {

using at::Tensor;

/// The gradients of one pass so far.
struct GradientSum : torch::CustomClassHolder {
  Tensor sum;
};

class CollectedSum {
 public:
  CollectedSum() = default;
  /// x may be undefined. One object serves one forward pass; a graph whose backward threw must be dropped.
  explicit CollectedSum(const Tensor& x);
  /// x for one step.
  Tensor for_step() const;

 private:
  Tensor x_;  // where it learns: after the node that has the sum
  c10::intrusive_ptr<GradientSum> grads_;
};

}  // namespace heed
