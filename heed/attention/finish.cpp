#include "heed/attention/finish.h"

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
  return result;
}

}  // namespace heed
