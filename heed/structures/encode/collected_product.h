// A product with the same matrix at every step of a recurrent network:
//
//   y_t = x_t W' + b        t = 1 ... T        dW = sum_t dy_t' x_t = [dy_1; ...; dy_T]' [x_1; ...; x_T]
//
// Autograd would compute T small products for dW, each in newly allocated memory, and add each to W's gradient. Here
// backward of a step only records x_t and dy_t, and one product computes dW after all steps. When backward is itself
// differentiated, every step returns its own part of dW, as in autograd. On the CPU the steps share a packed W.

#pragma once

#include <utility>
#include <vector>

#include <torch/types.h>

#include "heed/backend/packed_linear.h"
#include "heed/torch_support/autocast.h"

namespace heed {

using at::Tensor;

/// Inputs and output gradients recorded by the steps of one pass. Each step has an index: running backward again
/// replaces the earlier record.
struct Collected : torch::CustomClassHolder {
  std::vector<Tensor> inputs, grads;        // [B, in], [B, out]; undefined: no gradient arrived
  AutocastState autocast;                   // at forward: backward computes in the same dtypes
  c10::intrusive_ptr<PackedLinear> packed;  // null: products of torch

  PackedLinear& packed_for(const Tensor& weight) {
    if (!packed) packed = c10::make_intrusive<PackedLinear>(weight);
    return *packed;
  }
  size_t next_step() {
    inputs.emplace_back();
    grads.emplace_back();
    return inputs.size() - 1;
  }
  void hand_in(size_t step, const Tensor& input, const Tensor& grad) {
    inputs[step] = input;
    grads[step] = grad;
  }
  /// Removes and returns all records in the order of steps: [n B, in] and [n B, out]; undefined if there are none.
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
  /// weight [out, in], bias [out] or undefined. Use one object for one forward pass.
  explicit CollectedProduct(const Tensor& weight, const Tensor& bias = {});

  /// x [B, in] -> x W' + b [B, out]. added [B, out] takes the place of a bias; giving both throws Error.
  Tensor operator()(const Tensor& x, const Tensor& added = {});
  bool defined() const { return weight_.defined(); }

 private:
  Tensor weight_, bias_;  // outputs of the autograd node that computes dW, if they require a gradient
  c10::intrusive_ptr<Collected> collected_;
};

}  // namespace heed
