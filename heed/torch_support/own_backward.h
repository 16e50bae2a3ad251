// Custom autograd functions. Inputs and outputs may be undefined tensors.

#pragma once

#include <vector>

#include <torch/types.h>

namespace heed {

using Tensors = std::vector<at::Tensor>;

/// A function with its own backward. One object is used for one run, and stores what backward needs besides the inputs.
class OwnBackward : public torch::CustomClassHolder {
 public:
  /// Runs once, with grad mode off if an input requires a gradient.
  virtual Tensors forward(const Tensors& inputs) = 0;

  /// Gradients with respect to the inputs that are `wanted`; the others may be undefined. grads: of the outputs,
  /// undefined if an output is unused. May run several times; grad mode is on for second derivatives (create_graph).
  virtual Tensors backward(const Tensors& inputs, const Tensors& grads, const std::vector<bool>& wanted) = 0;
};

/// Runs forward as an autograd node.
Tensors run(const c10::intrusive_ptr<OwnBackward>& step, const Tensors& inputs);

/// Whether autograd records a function of these inputs: grad mode is on and one of them requires a gradient.
bool learns(const Tensors& inputs);

}  // namespace heed
