// The same matrix at every step of a recurrent network:
//
//   y_t = x_t W' + b        t = 1 ... T        dW = sum_t dy_t' x_t = [dy_1; ...; dy_T]' [x_1; ...; x_T]
//
// Autograd would make T small products for dW, each in memory of its own, and pass over all of W to add each. Here the
// steps hand in what dW is made of, and one product is made of it when all have run. Where backward is itself being
// differentiated, every step gives its own part, as autograd has it.

#pragma once

#include <utility>
#include <vector>

#include <torch/types.h>

#include "heed/bridge/autocast.h"

namespace heed {

using at::Tensor;

/// What the steps of one pass hand in. A step has a position of its own: a backward that is run again replaces what the
/// one before left there.
struct Collected : torch::CustomClassHolder {
  std::vector<Tensor> inputs, grads;  // [B, in], [B, out]; undefined: no gradient arrived
  AutocastState autocast;             // of forward: backward computes in the same types

  size_t next_step() {
    inputs.emplace_back();
    grads.emplace_back();
    return inputs.size() - 1;
  }
  void hand_in(size_t step, const Tensor& input, const Tensor& grad) {
    inputs[step] = input;
    grads[step] = grad;
  }
  /// All of them in the order of steps, each once: [n B, in], [n B, out], or nothing.
  std::pair<Tensor, Tensor> taken() {
    std::vector<Tensor> x, y;
    for (size_t step = 0; step < inputs.size(); ++step) {
      if (!inputs[step].defined()) continue;
      x.push_back(inputs[step]);
      y.push_back(grads[step]);
      inputs[step].reset();
      grads[step].reset();
    }
    if (x.empty()) return {};
    return x.size() == 1 ? std::pair{x[0], y[0]} : std::pair{at::cat(x), at::cat(y)};
  }
};

class CollectedProduct {
 public:
  CollectedProduct() = default;
  /// weight [out, in], bias [out] or undefined. One object serves one forward pass.
  explicit CollectedProduct(const Tensor& weight, const Tensor& bias = {});

  /// x [B, in] gives [B, out]: x W' + b, and what is added to it, [B, out]: instead of a bias.
  Tensor operator()(const Tensor& x, const Tensor& added = {});
  bool defined() const { return weight_.defined(); }

 private:
  Tensor weight_, bias_;  // where something learns: after the node that gathers
  c10::intrusive_ptr<Collected> collected_;
};

}  // namespace heed
