#include "heed/bridge/recompute.h"

#include <memory>
#include <utility>

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

namespace heed {
namespace {

using torch::autograd::AutogradContext;

/// A function inside an IValue, where an autograd node can hold it.
struct Held : torch::CustomClassHolder {
  explicit Held(Step s) : step(std::move(s)) {}
  Step step;
};

/// Which slots of a list are defined, and the list without the others. A custom Function of libtorch
/// 1.13 reads the device of every tensor it is given or returns, so absent ones must stay outside.
struct Slots {
  std::vector<bool> defined;

  static Slots of(const Tensors& all) {
    Slots slots;
    for (const auto& x : all) slots.defined.push_back(x.defined());
    return slots;
  }
  Tensors pack(const Tensors& all) const {
    Tensors some;
    for (size_t i = 0; i < all.size(); ++i)
      if (defined[i]) some.push_back(all[i]);
    return some;
  }
  Tensors unpack(const Tensors& some) const {
    Tensors all(defined.size());
    for (size_t i = 0, next = 0; i < all.size(); ++i)
      if (defined[i]) all[i] = some[next++];
    return all;
  }
};

/// The step (inputs, slopes of the outputs) -> slopes of the inputs that are `wanted`.
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

/// All slots are defined in here. `now` runs at once; `step`, the same function, is kept for backward.
struct Recompute : torch::autograd::Function<Recompute> {
  static Tensors forward(AutogradContext* context, const Step& now, const Step& step,
                         at::TensorList inputs) {  // grad mode is off in here
    context->saved_data["step"] = at::IValue::make_capsule(c10::make_intrusive<Held>(step));
    context->save_for_backward(inputs.vec());
    context->set_materialize_grads(false);
    return now(inputs.vec());
  }

  static Tensors backward(AutogradContext* context, const Tensors& slopes) {
    const auto held = context->saved_data["step"].toCapsule();
    const Step& step = c10::static_intrusive_pointer_cast<Held>(held)->step;
    Tensors all = context->get_saved_variables();
    std::vector<bool> wanted;
    for (const auto& x : all) wanted.push_back(x.requires_grad());
    all.insert(all.end(), slopes.begin(), slopes.end());
    const Step back = slopes_of(step, wanted);
    Tensors result = at::GradMode::is_enabled() ? recompute(back, all) : back(all);
    result.insert(result.begin(), 2, at::Tensor());  // the two functions have no slope
    return result;
  }
};

}  // namespace

Tensors recompute(const Step& step, const Tensors& inputs) {
  bool needed = false;
  for (const auto& x : inputs) needed = needed || (x.defined() && x.requires_grad());
  if (!needed || !at::GradMode::is_enabled()) return step(inputs);

  const Slots in = Slots::of(inputs);
  Slots out;
  const Step again = [step, in](const Tensors& some) {
    const Tensors all = step(in.unpack(some));
    return Slots::of(all).pack(all);
  };
  const Step now = [&step, &in, &out](const Tensors& some) {
    const Tensors all = step(in.unpack(some));
    out = Slots::of(all);
    return out.pack(all);
  };
  return out.unpack(Recompute::apply(now, again, at::TensorList(in.pack(inputs))));
}

}  // namespace heed
