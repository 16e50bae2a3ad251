#include "heed/attention/definition.h"

#include "heed/attention/composed.h"
#include "heed/backend/reference.h"

namespace heed {

namespace reference = kernels::reference;

reference::Problem<double> problem_of(const Checked& checked, const Mechanism& mechanism) {
  const Call& call = checked.call;
  reference::Problem<double> problem;
  problem.mechanism = mechanism.parts();
  for (const auto& [name, tensor] : checked.parameters) problem.parameters[name] = doubles(tensor);
  problem.query = doubles(checked.query);
  problem.keys = doubles(checked.keys);
  problem.values = doubles(checked.values);
  problem.keep = flags(call.mask.keep);
  problem.key_count = integers(call.mask.key_count);
  problem.causal = static_cast<reference::Causal>(call.mask.causal);
  problem.left = call.mask.left;
  problem.right = call.mask.right;
  problem.first_query = call.mask.first_query;
  problem.bias = doubles(call.bias.full);
  problem.per_key = doubles(call.bias.per_key);
  problem.relative = doubles(call.bias.relative);
  problem.alibi = doubles(call.bias.alibi);
  problem.scale = call.scale;
  problem.soft_cap = call.soft_cap;
  problem.sample = call.noise.sample;
  problem.dropout = call.noise.dropout;
  problem.seed = call.noise.seed;
  problem.stream = call.noise.stream;
  problem.first_row = call.noise.first_row;
  problem.uniforms = doubles(call.noise.uniforms);
  return problem;
}

Attended run_definition(const Checked& checked, const Mechanism& mechanism) {
  const auto answer = define(problem_of(checked, mechanism));
  const auto options = checked.query.options();
  const auto tensor = [&](const reference::Array<double>& array) { return to_tensor(array, options); };
  const Outputs& outputs = checked.call.outputs;
  Attended result;
  result.context = tensor(answer.context);
  const auto weights = tensor(answer.weights);
  const auto some = [&](const Tensor& x, int64_t axis, const std::vector<int64_t>& which) {
    return which.empty() ? x : x.index_select(axis, at::tensor(which, at::kLong));
  };
  if (outputs.weights) result.weights = some(some(weights, 2, outputs.rows), 1, outputs.heads);
  if (outputs.lse) result.lse = tensor(answer.lse);
  if (outputs.entropy) result.entropy = tensor(answer.entropy);
  if (outputs.column_mass) result.column_mass = weights.sum(2);
  if (outputs.top > 0) std::tie(result.top_weights, result.top_keys) = top_of(weights, outputs.top);
  if (outputs.links.defined()) {
    check(!mechanism.align().offers().log_probability || mechanism.align().offers().policy, mechanism.align_name(),
          ": the reference path has no log-weights of the distribution that it samples from; use another path");
    const auto link = [&](int64_t i) { return outputs.links.select(1, i); };
    result.link_log_weights = at::log(weights.index({link(0), link(1), link(2), link(3)}));
  }
  result.log_probability = tensor(answer.log_probability);
  result.selected = tensor(answer.selected);
  if (result.selected.defined()) {
    const BlockRange whole{0, 0, checked.query.size(2), checked.keys.size(2)};
    const auto reachable = reach(checked.call.mask, whole, at::kCPU).keys.squeeze(-1);
    result.selected_share = result.selected.sum(2) / reachable.expand_as(result.selected).sum(2).clamp_min(1);
  }
  return result;
}

}  // namespace heed
