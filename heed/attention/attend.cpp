#include "heed/attention/attend.h"

#include "heed/attention/checked.h"
#include "heed/attention/composed.h"
#include "heed/attention/definition.h"
#include "heed/attention/fused.h"
#include "heed/torch_support/autocast.h"

namespace heed {
namespace {

/// A scalar 0 that depends on all tensors, so that an empty result gives them gradients of zeros.
Tensor nothing_of(const std::vector<Tensor>& tensors, const Tensor& like) {
  Tensor zero = at::zeros({}, like.options());
  for (const auto& x : tensors)
    if (x.defined() && x.requires_grad()) zero = zero + x.flatten().narrow(0, 0, 0).sum();
  return zero;
}

}  // namespace

Attended empty_answer(const Checked& c, const Mechanism& mechanism) {
  const int64_t B = c.query.size(0), H = c.query.size(1), Lq = c.query.size(2), Lk = c.keys.size(2),
                W = c.sizes.width();
  const Outputs& outputs = c.call.outputs;
  const auto zeros = [&](std::vector<int64_t> shape) { return at::zeros(shape, c.query.options()); };
  const auto count = [](const std::vector<int64_t>& some, int64_t all) {
    return some.empty() ? all : static_cast<int64_t>(some.size());
  };
  auto inputs = c.parameters.values();
  inputs.insert(inputs.end(), {c.query, c.keys, c.values});
  const auto nothing = nothing_of(inputs, c.query);
  const auto linked = [&](std::vector<int64_t> shape) { return zeros(std::move(shape)) + nothing; };
  Attended none;
  none.context = linked({B, H, Lq, c.values.size(-1)});
  if (outputs.weights) none.weights = linked({B, count(outputs.heads, H), count(outputs.rows, Lq), Lk, W});
  if (outputs.lse) none.lse = linked({B, H, Lq, W}) - INFINITY;
  if (outputs.entropy) none.entropy = linked({B, H, Lq, W});
  if (outputs.column_mass) none.column_mass = linked({B, H, Lk, W});
  if (outputs.top > 0) none.top_weights = linked({B, H, Lq, outputs.top, W});
  if (outputs.top > 0) none.top_keys = at::full({B, H, Lq, outputs.top, W}, -1, c.query.options().dtype(at::kLong));
  if (outputs.links.defined()) none.link_log_weights = linked({0, W});
  const Offers offers = mechanism.align().offers();
  if (offers.policy) {
    none.log_probability = linked({B, H});
    none.selected = zeros({B, H, Lk});
    none.selected_share = zeros({B, H});
  } else if (offers.log_probability) {
    none.log_probability = linked({B, H, Lq, W});
  }
  return none;
}

namespace {

/// Why the fused path is rejected, or "". Throws Error if the call requests it.
std::string against_fused(const Checked& c, const Mechanism& mechanism) {
  const bool hollow = c.keys.size(3) == 0 || c.values.size(3) == 0;
  const std::string missing = hollow ? "keys or values have no features" : no_kernel(mechanism, c.call, c.query);
  check(missing.empty() || c.call.path != Path::fused, "attend: no fused kernel for ", mechanism.to_string(), ": ",
        missing, "; use Path::fastest or Path::composed");
  if (!missing.empty()) return "no kernel for " + mechanism.to_string() + ": " + missing;
  if (c.call.path != Path::fastest && c.call.path != Path::fused) return to_string(c.call.path) + " was requested";
  if (c.call.path == Path::fastest && c.query.scalar_type() != at::kFloat)
    return "double runs on the portable kernels; only on request";
  return "";
}

/// One prepared key of each head, to find the width of a prepared key.
Tensor one_prepared_key(const Checked& c, const Mechanism& mechanism) {
  const at::NoGradGuard no_grad;
  auto one = c.keys.slice(2, 0, 1).slice(0, 0, 1);
  if (one.numel() == 0) one = at::zeros({1, c.keys.size(1), 1, c.keys.size(3)}, c.keys.options());
  return mechanism.score().prepare_keys(c.parameters.of("score"), repeat_heads(one, c.query.size(1)));
}

Plan fused_plan(const Checked& c, const Mechanism& mechanism) {
  constexpr int64_t kRowBytes = sizeof(kernels::cpu::RowStats<float>);  // saved for backward
  Plan plan;
  plan.path = Path::fused;
  plan.kernel = kernel_name(mechanism, c.query.scalar_type());
  plan.block_rows = c.query.size(0);
  plan.block_queries = c.query.size(2);
  const int64_t packed_keys = c.keys.numel() * c.query.element_size();
  plan.bytes = c.query.size(0) * c.query.size(1) * c.query.size(2) * c.sizes.width() * kRowBytes + packed_keys;
  return plan;
}

bool one_for_each_head(const std::vector<ParameterSpec>& specs, const Parameters& parameters) {
  for (const auto& spec : specs)
    if (parameters[spec.name].dim() > static_cast<int64_t>(spec.shape.size())) return true;
  return false;
}

}  // namespace

Plan plan_of(const Checked& c, const Mechanism& mechanism, const Tensor& prepared_keys) {
  const Call& call = c.call;
  const std::string against = against_fused(c, mechanism);
  Plan plan = against.empty() ? fused_plan(c, mechanism)
                              : plan_blocks(mechanism, call, c.query.sizes(),
                                            prepared_keys.defined() ? prepared_keys : one_prepared_key(c, mechanism),
                                            c.sizes, c.keys.size(2), c.query.element_size());
  if (call.path == Path::reference) {
    plan.path = Path::reference;
    plan.block_rows = c.query.size(0);
    plan.block_queries = c.query.size(2);
    plan.bytes = c.query.size(0) * c.query.size(1) * c.query.size(2) * c.keys.size(2) * c.sizes.width() * 8 * 2;
  }
  if (!against.empty()) plan.rejected.emplace_back(Path::fused, against);
  if (plan.path != Path::composed)
    plan.rejected.emplace_back(Path::composed, call.path == Path::fastest ? "slower than the kernel"
                                                                          : to_string(plan.path) + " was requested");
  if (plan.path != Path::stored)
    plan.rejected.emplace_back(Path::stored, "keeps every pair for backward; only on request");
  if (plan.path != Path::reference)
    plan.rejected.emplace_back(Path::reference, "slow, without gradients; only on request");
  const Offers offers = mechanism.align().offers();
  plan.sampled = call.noise.sample && (offers.draws || offers.policy);
  plan.seed = plan.sampled || call.noise.dropout > 0 ? call.noise.seed : 0;
  return plan;
}

Attended run_plan(const Plan& plan, const Prepared& prepared, const Mechanism& mechanism, const Parameters& parameters,
                  const Call& call) {
  Attended result = plan.path == Path::fused ? run_fused(prepared, mechanism, parameters, call)
                                             : run_blocks(prepared, mechanism, parameters, call, plan);
  result.plan = plan;
  return result;
}

Prepared prepare(const Checked& c, const Mechanism& mechanism) {
  const auto& [query, keys, values] = std::tie(c.query, c.keys, c.values);
  const BlockRange whole{0, 0, query.size(2), keys.size(2), mechanism.score().max_keys()};
  Prepared p;
  p.reach = reach(c.call.mask, whole, query.device());
  const bool masked = c.call.mask.any() || whole.max_keys < whole.keys;
  const auto q = masked ? without_unreached(query, p.reach.rows) : query;
  const auto k = masked ? without_unreached(keys, p.reach.keys) : keys;
  p.values = masked ? without_unreached(values, p.reach.values) : values;
  const auto score = c.parameters.of("score"), align = c.parameters.of("align");
  const auto score_specs = mechanism.score().parameters(c.sizes);
  p.query = mechanism.score().prepare_query(score, q);
  p.keys =
      mechanism.score().prepare_keys(score, one_for_each_head(score_specs, score) ? repeat_heads(k, q.size(1)) : k);
  p.align_query = mechanism.align().prepare_query(align, q);
  if (mechanism.align().looks_at_keys())
    p.align_keys = mechanism.align().prepare_keys(align, repeat_heads(k, q.size(1)), p.reach.keys);
  return p;
}

Attended attend(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
                const Parameters& parameters, const Call& call) {
  const Tensor q = full(query), k = full(keys), v = full(values);
  const FullPrecision precision;
  const Checked c = check_call(q, k, v, mechanism, parameters, call);
  const Plan plan = plan_of(c, mechanism);
  const bool empty = c.query.size(0) == 0 || c.query.size(2) == 0 || c.keys.size(2) == 0 || c.query.size(1) == 0;
  Attended result = empty ? empty_answer(c, mechanism)
                    : plan.path == Path::reference
                        ? run_definition(c, mechanism)
                        : run_plan(plan, prepare(c, mechanism), mechanism, c.parameters, c.call);
  result.plan = plan;
  return without_axes(result, mechanism, /*heads=*/c.heads);
}

Plan why(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
         const Parameters& parameters, const Call& call) {
  Call quiet = call;  // a plan must not advance torch's generator
  if (call.noise.seed == 0) quiet.noise.seed = 1;
  Plan plan = plan_of(check_call(query, keys, values, mechanism, parameters, quiet), mechanism);
  plan.seed = call.noise.seed;
  return plan;
}

Attended without_axes(Attended result, const Mechanism& mechanism, bool heads) {
  if (mechanism.dimensionality() == Dimensionality::single) {
    for (Tensor* x : {&result.weights, &result.lse, &result.entropy, &result.column_mass, &result.top_weights,
                      &result.top_keys, &result.link_log_weights})
      if (x->defined()) *x = x->squeeze(-1);
    if (result.log_probability.dim() == 4) result.log_probability = result.log_probability.squeeze(-1);
  }
  if (heads) return result;
  for (Tensor* x :
       {&result.context, &result.weights, &result.lse, &result.entropy, &result.column_mass, &result.top_weights,
        &result.top_keys, &result.log_probability, &result.selected, &result.selected_share})
    if (x->defined()) *x = x->squeeze(1);
  return result;
}

std::string to_string(Path path) {
  switch (path) {
    case Path::fastest:
      return "fastest";
    case Path::fused:
      return "fused";
    case Path::composed:
      return "composed";
    case Path::stored:
      return "stored";
    case Path::reference:
      return "reference";
  }
  fail("path: not one of the five");
}

std::string Plan::to_string() const {
  std::ostringstream text;
  text << heed::to_string(path) << ": ";
  if (path == Path::fused)
    text << "kernel " << kernel;
  else
    text << "blocks of batch elements x queries = " << block_rows << " x " << block_queries;
  text << ", about " << (bytes + (1 << 20) - 1) / (1 << 20) << " MiB at once";
  for (const auto& [other, reason] : rejected) text << "; not " << heed::to_string(other) << ": " << reason;
  return text.str();
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    c10::optional<double> scale, bool enable_gqa) {
  check(query.dim() >= 2 && key.dim() == query.dim() && value.dim() == query.dim(),
        "scaled_dot_product_attention: query is ", shape_of(query), ", key ", shape_of(key), ", value ",
        shape_of(value), "; expected [..., L, E] with equally many axes");
  check(enable_gqa || query.dim() < 3 || key.size(-3) == query.size(-3), "scaled_dot_product_attention: the query has ",
        query.dim() < 3 ? 1 : query.size(-3), " heads and the key ", key.dim() < 3 ? 1 : key.size(-3),
        "; pass enable_gqa to share keys");
  for (int64_t i = 0; i + 3 < query.dim(); ++i)
    check(key.size(i) == query.size(i) && value.size(i) == query.size(i), "scaled_dot_product_attention: query is ",
          shape_of(query), ", key ", shape_of(key), ", value ", shape_of(value), "; expected equal leading axes");
  check(!(is_causal && attn_mask.defined()),
        "scaled_dot_product_attention: got is_causal and attn_mask, expected one of them");
  // [..., H, L, E] -> [B, H, L, E]
  const auto four = [](const Tensor& x) {
    if (x.dim() == 2) return x.unsqueeze(0).unsqueeze(0);
    return x.dim() == 3 ? x.unsqueeze(0) : x.flatten(0, -4);
  };
  const auto q = four(query);
  Call call;
  call.scale = scale.has_value() ? *scale : 1 / std::sqrt(static_cast<double>(query.size(-1)));
  call.noise.dropout = dropout_p;
  if (is_causal) call.mask.causal = Causal::top_left;
  if (attn_mask.defined()) {
    auto mask = attn_mask;
    while (mask.dim() < query.dim()) mask = mask.unsqueeze(0);
    if (query.dim() > 4) {  // the leading axes are flattened below
      auto shape = query.sizes().vec();
      for (size_t i = 0; i < shape.size(); ++i)
        if (i + 3 >= shape.size()) shape[i] = mask.size(static_cast<int64_t>(i));
      mask = mask.expand(shape);
    }
    (mask.scalar_type() == at::kBool ? call.mask.keep : call.bias.full) = four(mask);
  }
  const auto context = attend(q, four(key), four(value), Mechanism::parse("dot + softmax"), {}, call).context;
  auto shape = query.sizes().vec();
  shape.back() = value.size(-1);
  return context.reshape(shape);
}

}  // namespace heed
