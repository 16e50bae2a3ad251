#include "heed/structures/encode/collected_sum.h"

#include <torch/csrc/autograd/custom_function.h>

namespace heed {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

c10::intrusive_ptr<SlopeSum> slopes_of_pass(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<SlopeSum>(context->saved_data["slopes"].toCapsule());
}

/// x as the steps get it. Backward runs when all of them have.
struct Summed : torch::autograd::Function<Summed> {
  static Tensor forward(AutogradContext* context, const c10::intrusive_ptr<SlopeSum>& slopes, const Tensor& x) {
    context->saved_data["slopes"] = at::IValue::make_capsule(slopes);
    context->set_materialize_grads(false);
    return x.detach();
  }
  static variable_list backward(AutogradContext* context, const variable_list& given) {
    Tensor sum;
    std::swap(sum, slopes_of_pass(context)->sum);
    if (given[0].defined()) sum = sum.defined() ? sum + given[0] : given[0];
    return {Tensor(), sum};
  }
};

struct OneStep : torch::autograd::Function<OneStep> {
  static Tensor forward(AutogradContext* context, const c10::intrusive_ptr<SlopeSum>& slopes, const Tensor& x) {
    context->saved_data["slopes"] = at::IValue::make_capsule(slopes);
    context->set_materialize_grads(false);
    return x.detach();
  }
  static variable_list backward(AutogradContext* context, const variable_list& given) {
    if (!given[0].defined() || at::GradMode::is_enabled()) return {Tensor(), given[0]};
    auto& sum = slopes_of_pass(context)->sum;
    if (sum.defined())
      sum.add_(given[0]);
    else
      sum = given[0].clone();  // somebody else may hold it
    return {Tensor(), Tensor()};
  }
};

}  // namespace

CollectedSum::CollectedSum(const Tensor& x) : x_(x) {
  if (!x.defined() || !x.requires_grad() || !at::GradMode::is_enabled()) return;
  slopes_ = c10::make_intrusive<SlopeSum>();
  x_ = Summed::apply(slopes_, x);
}

Tensor CollectedSum::for_step() const {
  return slopes_ ? OneStep::apply(slopes_, x_) : x_;
}

}  // namespace heed
