// A step with a backward of its own, as an autograd node. Undefined tensors pass through as absent ones, in and out.

#pragma once

#include <vector>

#include <torch/types.h>

namespace heed {

using Tensors = std::vector<at::Tensor>;

/// One object serves one run: what backward needs besides the inputs, it keeps in itself.
class OwnBackward : public torch::CustomClassHolder {
 public:
  /// Runs once, with grad mode off where anything is to be differentiated.
  virtual Tensors forward(const Tensors& inputs) = 0;

  /// The gradients of the inputs that are `wanted`; the others may be undefined. An output that nobody asks about has
  /// no gradient. May run several times; grad mode is on where it is itself being differentiated.
  virtual Tensors backward(const Tensors& inputs, const Tensors& grads, const std::vector<bool>& wanted) = 0;
};

Tensors run(const c10::intrusive_ptr<OwnBackward>& step, const Tensors& inputs);

/// Whether autograd would differentiate a step with these inputs.
bool learns(const Tensors& inputs);

}  // namespace heed
