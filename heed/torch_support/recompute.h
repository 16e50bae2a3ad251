// recompute(f, inputs) = f(inputs), saving only the inputs: backward runs f again under grad mode (gradient
// checkpointing).
//
// For higher derivatives the vector-Jacobian product of f is recomputed too, so only inputs and gradients stay alive at
// every order. A graph stored inside backward (create_graph) would keep every block of a long call instead.
//
// f must be deterministic: no generator, no clock. Inputs and outputs may be undefined tensors.

#pragma once

#include <functional>
#include <vector>

#include "heed/torch_support/own_backward.h"

namespace heed {

using Step = std::function<Tensors(const Tensors&)>;

Tensors recompute(const Step& step, const Tensors& inputs);

/// The function (inputs, gradients of the outputs) -> gradients with respect to the `wanted` inputs, by autograd
/// through `step`. With grad mode on it can be differentiated again.
Step gradients_of(const Step& step, const std::vector<bool>& wanted);

}  // namespace heed
