#include "heed/torch_support/recompute.h"

#include <utility>

#include <torch/csrc/autograd/autograd.h>

namespace heed {
namespace {

class Recompute final : public OwnBackward {
 public:
  explicit Recompute(Step step) : step_(std::move(step)) {}

  Tensors forward(const Tensors& inputs) override { return step_(inputs); }

  Tensors backward(const Tensors& inputs, const Tensors& grads, const std::vector<bool>& wanted) override {
    Tensors all = inputs;
    all.insert(all.end(), grads.begin(), grads.end());
    const Step back = gradients_of(step_, wanted);
    return at::GradMode::is_enabled() ? recompute(back, all) : back(all);
  }

 private:
  Step step_;
};

}  // namespace

Step gradients_of(const Step& step, const std::vector<bool>& wanted) {
  return [step, wanted](const Tensors& given) {
    const auto count = static_cast<std::ptrdiff_t>(wanted.size());
    const bool again = at::GradMode::is_enabled();  // for second derivatives
    const at::AutoGradMode on(true);
    Tensors inputs(given.begin(), given.begin() + count);
    Tensors from, grads, to;
    for (size_t i = 0; i < wanted.size(); ++i) {
      auto& x = inputs[i];
      if (!x.defined() || !at::isFloatingType(x.scalar_type())) continue;
      // A separate alias for each input: query, keys and values may be one tensor, or computed from each other, and the
      // gradient with respect to each input is computed separately.
      x = again && x.requires_grad() ? x.view_as(x) : x.detach().requires_grad_(wanted[i]);
      if (wanted[i]) to.push_back(x);
    }
    const Tensors outputs = step(inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const at::Tensor& grad = given[wanted.size() + i];
      if (!grad.defined() || !outputs[i].defined() || !outputs[i].requires_grad()) continue;
      from.push_back(outputs[i]);
      grads.push_back(grad);
    }
    Tensors found(to.size());
    if (!from.empty() && !to.empty())
      found = torch::autograd::grad(from, to, grads, /*retain_graph=*/again, /*create_graph=*/again,
                                    /*allow_unused=*/true);
    Tensors result(wanted.size());
    for (size_t i = 0, next = 0; i < wanted.size(); ++i)
      if (wanted[i]) result[i] = found[next++];
    return result;
  };
}

Tensors recompute(const Step& step, const Tensors& inputs) {
  return run(c10::make_intrusive<Recompute>(step), inputs);
}

}  // namespace heed
