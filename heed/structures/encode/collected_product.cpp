#include "heed/structures/encode/collected_product.h"

#include <torch/csrc/autograd/custom_function.h>

#include "heed/base/check.h"

namespace heed {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

c10::intrusive_ptr<Collected> collected_of(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<Collected>(context->saved_data["collected"].toCapsule());
}

Tensor sum_of(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : a + b;
}

/// Passes W and b on to the steps. Its backward runs after that of all steps.
struct Gathers : torch::autograd::Function<Gathers> {
  static variable_list forward(AutogradContext* context, const c10::intrusive_ptr<Collected>& collected,
                               const Tensor& weight, const Tensor& bias) {
    context->saved_data["collected"] = at::IValue::make_capsule(collected);
    context->set_materialize_grads(false);
    return {weight.detach(), bias.detach()};
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const AutocastState::Guard same_types(collected_of(context)->autocast);
    const auto [x, dy] = collected_of(context)->taken();
    Tensor weight = grads[0], bias = grads[1];  // from steps that returned their own part
    if (dy.defined() && context->needs_input_grad(0)) weight = sum_of(weight, at::mm(dy.t(), x));
    if (dy.defined() && context->needs_input_grad(1)) bias = sum_of(bias, dy.sum(0));
    return {Tensor(), weight, bias};
  }
};

enum class Added : int64_t { nothing, bias, rows };  // [out], [B, out]

/// The product of one step.
struct ProductStep : torch::autograd::Function<ProductStep> {
  static Tensor forward(AutogradContext* context, const c10::intrusive_ptr<Collected>& collected, const Tensor& x,
                        const Tensor& weight, const Tensor& added, Added kind) {
    context->saved_data["collected"] = at::IValue::make_capsule(collected);
    context->saved_data["step"] = static_cast<int64_t>(collected->next_step());
    context->saved_data["kind"] = static_cast<int64_t>(kind);
    context->save_for_backward({x, weight});
    context->set_materialize_grads(false);
    const Tensor more = kind == Added::nothing ? Tensor() : added;
    const bool packs = PackedLinear::fits(x, weight, more);
    context->saved_data["packs"] = packs;
    if (packs) return collected->packed_for(weight).forward(x, more);
    return more.defined() ? at::addmm(more, x, weight.t()) : at::mm(x, weight.t());
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto& dy = grads[0];
    variable_list found(5);
    if (!dy.defined()) return found;
    const AutocastState::Guard same_types(collected_of(context)->autocast);
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1];
    const auto kind = static_cast<Added>(context->saved_data["kind"].toInt());
    const bool weight_wanted = context->needs_input_grad(1), added_wanted = context->needs_input_grad(2);
    const bool bias_wanted = kind == Added::bias && added_wanted;
    if (context->needs_input_grad(0)) {
      const bool packs = context->saved_data["packs"].toBool() && !at::GradMode::is_enabled();
      found[1] = packs ? collected_of(context)->packed_for(weight).backward(dy) : at::mm(dy, weight);
    }
    if (kind == Added::rows && added_wanted) found[3] = dy;
    if (at::GradMode::is_enabled()) {  // backward is being differentiated: a collected product has no graph
      if (weight_wanted) found[2] = at::mm(dy.t(), x);
      if (bias_wanted) found[3] = dy.sum(0);
    } else if (weight_wanted || bias_wanted) {
      collected_of(context)->hand_in(static_cast<size_t>(context->saved_data["step"].toInt()), x.detach(), dy);
    }
    return found;
  }
};

}  // namespace

CollectedProduct::CollectedProduct(const Tensor& weight, const Tensor& bias) : weight_(weight), bias_(bias) {
  const bool learns = weight.requires_grad() || (bias.defined() && bias.requires_grad());
  if (!learns || !at::GradMode::is_enabled()) return;
  collected_ = c10::make_intrusive<Collected>();
  const auto both = Gathers::apply(collected_, weight, bias.defined() ? bias : at::zeros({}, weight.options()));
  weight_ = both[0];
  if (bias.defined()) bias_ = both[1];
}

Tensor CollectedProduct::operator()(const Tensor& x, const Tensor& added) {
  check(!added.defined() || !bias_.defined(), "collected_product: got rows to add and a bias, expected one of them");
  const auto& more = added.defined() ? added : bias_;
  if (!collected_) return more.defined() ? at::addmm(more, x, weight_.t()) : at::mm(x, weight_.t());
  const Added kind = added.defined() ? Added::rows : bias_.defined() ? Added::bias : Added::nothing;
  return ProductStep::apply(collected_, x, weight_, more.defined() ? more : weight_.detach(), kind);
}

}  // namespace heed
