// recompute(f, inputs) = f(inputs), keeping only the inputs: backward runs f once more under grad mode.
//
// The vector-Jacobian product of f is itself recomputed while it is being differentiated, so what stays
// alive is the inputs (and gradients) at every order of derivative. A graph stored inside backward
// (create_graph) would keep every block of a long call instead.
//
// f must give the same answer when run again: no generator, no clock. Undefined tensors pass through
// as absent ones, in and out.

#pragma once

#include <functional>
#include <vector>

#include "heed/bridge/own_backward.h"

namespace heed {

using Step = std::function<Tensors(const Tensors&)>;

Tensors recompute(const Step& step, const Tensors& inputs);

/// The step (inputs, gradients of the outputs) -> gradients of the inputs that are `wanted`, by autograd through
/// `step`. With grad mode on it can itself be differentiated.
Step gradients_of(const Step& step, const std::vector<bool>& wanted);

}  // namespace heed
