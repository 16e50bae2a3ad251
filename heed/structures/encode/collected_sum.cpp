#include "heed/structures/encode/collected_sum.h"

#include <torch/csrc/autograd/custom_function.h>

namespace heed {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

c10::intrusive_ptr<GradientSum> gradients_of_pass(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<GradientSum>(context->saved_data["grads"].toCapsule());
}

/// Passes x on to the steps. Its backward runs after that of all steps.
struct Summed : torch::autograd::Function<Summed> {
  static Tensor forward(AutogradContext* context, const c10::intrusive_ptr<GradientSum>& grads, const Tensor& x) {
    context->saved_data["grads"] = at::IValue::make_capsule(grads);
    context->set_materialize_grads(false);
    return x.detach();
  }
  static variable_list backward(AutogradContext* context, const variable_list& given) {
    Tensor sum;
    std::swap(sum, gradients_of_pass(context)->sum);
    if (given[0].defined()) sum = sum.defined() ? sum + given[0] : given[0];
    return {Tensor(), sum};
  }
};

struct OneStep : torch::autograd::Function<OneStep> {
  static Tensor forward(AutogradContext* context, const c10::intrusive_ptr<GradientSum>& grads, const Tensor& x) {
    context->saved_data["grads"] = at::IValue::make_capsule(grads);
    context->set_materialize_grads(false);
    return x.detach();
  }
  static variable_list backward(AutogradContext* context, const variable_list& given) {
    if (!given[0].defined() || at::GradMode::is_enabled()) return {Tensor(), given[0]};
    auto& sum = gradients_of_pass(context)->sum;
    if (sum.defined())
      sum.add_(given[0]);
    else
      sum = given[0].clone();  // other nodes may share this tensor
    return {Tensor(), Tensor()};
  }
};

}  // namespace

CollectedSum::CollectedSum(const Tensor& x) : x_(x) {
  if (!x.defined() || !x.requires_grad() || !at::GradMode::is_enabled()) return;
  grads_ = c10::make_intrusive<GradientSum>();
  x_ = Summed::apply(grads_, x);
}

Tensor CollectedSum::for_step() const {
  return grads_ ? OneStep::apply(grads_, x_) : x_;
}

}  // namespace heed
