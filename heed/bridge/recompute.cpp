#include "heed/bridge/recompute.h"

#include <utility>

#include <torch/csrc/autograd/autograd.h>

namespace heed {
namespace {

class Recompute final : public OwnBackward {
 public:
  explicit Recompute(Step step) : step_(std::move(step)) {}

  Tensors forward(const Tensors& inputs) override { return step_(inputs); }

  Tensors backward(const Tensors& inputs, const Tensors& slopes, const std::vector<bool>& wanted) override {
    Tensors all = inputs;
    all.insert(all.end(), slopes.begin(), slopes.end());
    const Step back = slopes_of(step_, wanted);
    return at::GradMode::is_enabled() ? recompute(back, all) : back(all);
  }

 private:
  Step step_;
};

}  // namespace

Step slopes_of(const Step& step, const std::vector<bool>& wanted) {
  return [step, wanted](const Tensors& given) {
    const auto count = static_cast<std::ptrdiff_t>(wanted.size());
    const bool again = at::GradMode::is_enabled();  // we are being differentiated ourselves
    const at::AutoGradMode on(true);
    Tensors inputs(given.begin(), given.begin() + count);
    Tensors from, slopes, to;
    for (size_t i = 0; i < wanted.size(); ++i) {
      auto& x = inputs[i];
      if (!x.defined() || !at::isFloatingType(x.scalar_type())) continue;
      // An alias of its own for every slot: query, keys and values may be one tensor, or made from
      // each other, and each slot's slope is asked for separately.
      x = again && x.requires_grad() ? x.view_as(x) : x.detach().requires_grad_(wanted[i]);
      if (wanted[i]) to.push_back(x);
    }
    const Tensors outputs = step(inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const at::Tensor& slope = given[wanted.size() + i];
      if (!slope.defined() || !outputs[i].defined() || !outputs[i].requires_grad()) continue;
      from.push_back(outputs[i]);
      slopes.push_back(slope);
    }
    Tensors found(to.size());
    if (!from.empty() && !to.empty())
      found = torch::autograd::grad(from, to, slopes, /*retain_graph=*/again, /*create_graph=*/again,
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
