#include "heed/attention/finish.h"

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>

#include "heed/attention/mechanism_parts.h"

namespace heed {

using namespace backend;

namespace {

/// The policy of a call that ran on prepared keys. The definition has its own.
void add_policy(const CallRecord& r, Attended& result) {
  if (!r.offers.policy || !r.in[kAlignKeys].defined() || r.empty()) return;
  const Noise& noise = r.call.noise;
  const Draw draw{noise.sample, {noise.seed, noise.stream, noise.first_row, 0}, {}};
  const Policy policy = r.parts->align->policy(r.names.of("align"), r.in[kAlignKeys], r.reach.keys, draw);
  result.selected = policy.selected;
  result.selected_share = policy.share;
  result.log_probability = policy.log_probability;
}

/// The context of other weights. result: with the axes of the caller.
void replace_weights(const CallRecord& r, Attended& result) {
  Tensor values = repeat_heads(r.in[kValues], r.heads);  // [B, H, Lk, Dv]
  if (!r.head_axis) values = values.squeeze(1);
  const Tensor own = result.weights;
  const Tensor given = r.call.replace_weights(own, values);
  check(given.defined() && given.dim() <= own.dim() && at::is_expandable_to(given.sizes(), own.sizes()),
        "attend: replace_weights returned ", shape_of(given), ", expected ", shape_of(own));
  result.weights = given.expand(own.sizes());
  result.context = r.single() ? at::matmul(result.weights, values) : (result.weights * values.unsqueeze(-3)).sum(-2);
}

}  // namespace

Attended finish(const CallRecord& r, Attended result, Plan plan) {
  add_policy(r, result);
  if (r.single())
    for (Tensor* x : {&result.weights, &result.lse, &result.entropy, &result.column_mass, &result.top_weights,
                      &result.top_keys, &result.link_log_weights})
      if (x->defined()) *x = x->squeeze(-1);
  if (r.single() && !r.offers.policy && result.log_probability.defined())
    result.log_probability = result.log_probability.squeeze(-1);
  if (!r.head_axis)
    for (Tensor* x :
         {&result.context, &result.weights, &result.lse, &result.entropy, &result.column_mass, &result.top_weights,
          &result.top_keys, &result.log_probability, &result.selected, &result.selected_share})
      if (x->defined() && (x != &result.context || x->dim() == 4)) *x = x->squeeze(1);
  result.plan = std::move(plan);
  if (r.call.replace_weights) replace_weights(r, result);
  return result;
}

}  // namespace heed
