#include "heed/torch_support/own_backward.h"

#include <torch/csrc/autograd/custom_function.h>

#include "heed/torch_support/autocast.h"

namespace heed {
namespace {

using torch::autograd::AutogradContext;

/// Removes undefined tensors from a list and restores them. A custom Function of libtorch 1.13 reads the device of
/// every input and output, so it must not get undefined ones.
struct Slots {
  std::vector<bool> defined;

  static Slots of(const Tensors& all) {
    Slots slots;
    for (const auto& x : all) slots.defined.push_back(x.defined());
    return slots;
  }
  template <typename T>
  std::vector<T> pack(const std::vector<T>& all) const {
    std::vector<T> some;
    for (size_t i = 0; i < all.size(); ++i)
      if (defined[i]) some.push_back(all[i]);
    return some;
  }
  template <typename T>
  std::vector<T> unpack(const std::vector<T>& some) const {
    std::vector<T> all(defined.size());
    for (size_t i = 0, next = 0; i < all.size(); ++i)
      if (defined[i]) all[i] = some[next++];
    return all;
  }
};

/// State of an autograd node, stored in an IValue.
struct SavedStep : torch::CustomClassHolder {
  SavedStep(c10::intrusive_ptr<OwnBackward> s, Slots i) : step(std::move(s)), in(std::move(i)) {}
  c10::intrusive_ptr<OwnBackward> step;
  Slots in, out;
  AutocastState autocast;  // of forward, so that backward computes in the same types
};

/// Sees only defined tensors.
struct Node : torch::autograd::Function<Node> {
  static Tensors forward(AutogradContext* context, const c10::intrusive_ptr<SavedStep>& held,
                         at::TensorList inputs) {  // grad mode is off
    context->saved_data["held"] = at::IValue::make_capsule(held);
    context->save_for_backward(inputs.vec());
    context->set_materialize_grads(false);
    const Tensors all = held->step->forward(held->in.unpack(inputs.vec()));
    held->out = Slots::of(all);
    const Tensors some = held->out.pack(all);
    Tensors constant;
    for (const auto& x : some)
      if (!at::isFloatingType(x.scalar_type())) constant.push_back(x);
    context->mark_non_differentiable(constant);
    return some;
  }

  static Tensors backward(AutogradContext* context, const Tensors& grads) {
    const auto held = c10::static_intrusive_pointer_cast<SavedStep>(context->saved_data["held"].toCapsule());
    const Tensors inputs = context->get_saved_variables();
    const AutocastState::Guard same_types(held->autocast);
    std::vector<bool> wanted;
    for (size_t i = 0; i < inputs.size(); ++i)
      wanted.push_back(inputs[i].requires_grad() && context->needs_input_grad(i));
    const Tensors found =
        held->step->backward(held->in.unpack(inputs), held->out.unpack(grads), held->in.unpack(wanted));
    Tensors result = held->in.pack(found);
    result.insert(result.begin(), at::Tensor());  // of `held`
    return result;
  }
};

}  // namespace

bool learns(const Tensors& inputs) {
  bool needed = false;
  for (const auto& x : inputs) needed = needed || (x.defined() && x.requires_grad());
  return needed && at::GradMode::is_enabled();
}

Tensors run(const c10::intrusive_ptr<OwnBackward>& step, const Tensors& inputs) {
  if (!learns(inputs)) return step->forward(inputs);
  const auto held = c10::make_intrusive<SavedStep>(step, Slots::of(inputs));
  return held->out.unpack(Node::apply(held, at::TensorList(held->in.pack(inputs))));
}

}  // namespace heed
