#include "heed/attention/checked.h"

#include <algorithm>

#include "heed/kernels/reference/reference.h"

namespace heed {
namespace {

/// Adds the head axis to keep, bias or uniforms if it is missing.
Tensor with_heads(std::string_view what, const Tensor& x, int64_t axes) {
  if (!x.defined()) return x;
  check(x.dim() == axes || x.dim() == axes - 1, what, " is ", shape_of(x), ", expected ", axes - 1, " axes, or ", axes,
        " with heads");
  return x.dim() == axes ? x : x.unsqueeze(1);
}

std::string shown(const std::vector<int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const int64_t size : shape) sizes.push_back(std::to_string(size));
  return "[" + joined(sizes) + "]";
}

/// Checks that counts are from 0 to `keys`. On a GPU, where reading them would wait for it, they are clamped.
void check_range(Tensor& count, int64_t keys) {
  if (!count.device().is_cpu()) {
    count = count.clamp(0, keys);
    return;
  }
  if (count.numel() == 0) return;
  const Tensor dense = count.contiguous();
  const auto* first = dense.data_ptr<int64_t>();
  const auto [low, high] = std::minmax_element(first, first + dense.numel());
  check(*low >= 0 && *high <= keys, "mask: key_count is from ", *low, " to ", *high, ", expected 0 to ", keys,
        ", the number of keys");
}

void check_mask(Mask& mask, const CallSizes& s, const Tensor& like) {
  mask.keep = with_heads("mask: keep", mask.keep, 4);
  if (mask.keep.defined()) {
    check(mask.keep.scalar_type() == at::kBool, "mask: keep is ", mask.keep.scalar_type(),
          ", expected bool (true = may be attended); a float mask is a bias");
    check_spread("mask: keep", mask.keep, {s.rows, s.heads, s.queries, s.keys});
    check(mask.keep.device() == like.device(), "mask: keep is on ", mask.keep.device(), ", the query on ",
          like.device());
  }
  if (mask.key_count.defined()) {
    auto& count = mask.key_count;
    check(count.scalar_type() == at::kLong, "mask: key_count is ", count.scalar_type(), ", expected int64");
    check(count.dim() == 1 && count.size(0) == s.rows, "mask: key_count is ", shape_of(count), ", expected [", s.rows,
          "]");
    check(count.device() == like.device(), "mask: key_count is on ", count.device(), ", the query on ", like.device());
    check_range(count, s.keys);
  }
  check(mask.left >= -1, "mask: left is ", mask.left, ", expected at least 0 (or -1, no limit)");
  check(mask.right >= -1, "mask: right is ", mask.right, ", expected at least 0 (or -1, no limit)");
  check(mask.first_query >= 0, "mask: first_query is ", mask.first_query, ", expected at least 0");
  check(mask.first_query == 0 || mask.causal != Causal::bottom_right, "mask: first_query is ", mask.first_query,
        " with causal bottom_right, where the positions follow from the number of keys; leave it 0");
}

void check_bias(Bias& bias, const CallSizes& s, const Tensor& like) {
  bias.full = with_heads("bias: full", bias.full, 4);
  bias.per_key = with_heads("bias: per_key", bias.per_key, 3);
  for (const auto& [what, x] : {std::pair{"bias: full", bias.full},
                                {"bias: per_key", bias.per_key},
                                {"bias: relative", bias.relative},
                                {"bias: alibi", bias.alibi}})
    check_like(what, x, like);
  if (bias.full.defined()) check_spread("bias: full", bias.full, {s.rows, s.heads, s.queries, s.keys});
  if (bias.per_key.defined()) {
    check_spread("bias: per_key", bias.per_key, {s.rows, s.heads, s.keys});
    check(bias.per_key.size(2) == s.keys, "bias: per_key is ", shape_of(bias.per_key), ", expected one for each of ",
          s.keys, " keys");
  }
  if (bias.relative.defined()) {
    const auto& r = bias.relative;
    check(r.dim() == 2 && (r.size(0) == 1 || r.size(0) == s.heads) && r.size(1) % 2 == 1, "bias: relative is ",
          shape_of(r), ", expected [", s.heads, " or 1, 2R + 1]");
  }
  if (bias.alibi.defined())
    check(bias.alibi.dim() == 1 && bias.alibi.size(0) == s.heads, "bias: alibi is ", shape_of(bias.alibi),
          ", expected [", s.heads, "], one ALiBi slope for each head");
}

void check_noise(Noise& noise, const Mechanism& mechanism, const CallSizes& s, const Tensor& like) {
  const Offers offers = mechanism.align().offers();
  check(noise.dropout >= 0 && noise.dropout < 1, "noise: dropout is ", noise.dropout, ", expected 0 <= dropout < 1");
  check(noise.stream < (uint64_t{1} << 30), "noise: stream is ", noise.stream, ", expected less than 2^30");
  const int64_t last = (noise.first_row + s.rows) * s.heads;
  check(noise.first_row >= 0 && last < (int64_t{1} << 32), "noise: first_row is ", noise.first_row,
        ", expected at least 0 and (first_row + B) H less than 2^32");
  if (noise.uniforms.defined()) {
    check_like("noise: uniforms", noise.uniforms, like);
    check(offers.draws && noise.sample, "noise: got uniforms, but ",
          offers.draws ? "sample is false; set noise.sample" : mechanism.align_name() + " does not sample keys");
    if (s.width == 1 && noise.uniforms.dim() < 5)
      noise.uniforms = with_heads("noise: uniforms", noise.uniforms, 4).unsqueeze(-1);
    else
      noise.uniforms = with_heads("noise: uniforms", noise.uniforms, 5);
    const std::vector<int64_t> shape{s.rows, s.heads, s.queries, s.keys, s.width};
    if (noise.uniforms.sizes() != at::IntArrayRef(shape))
      fail("noise: uniforms is ", shape_of(noise.uniforms), ", expected ", shown(shape));
  }
  if (noise.uniforms.defined() && noise.uniforms.numel() > 0)
    check(noise.uniforms.min().item<double>() > 0 && noise.uniforms.max().item<double>() < 1,
          "noise: uniforms are from ", noise.uniforms.min().item<double>(), " to ", noise.uniforms.max().item<double>(),
          ", expected 0 < u < 1");
  const bool drawn = (noise.sample && (offers.draws || offers.policy)) || noise.dropout > 0;
  if (noise.seed == 0 && drawn)
    while (noise.seed == 0)
      noise.seed =
          static_cast<uint64_t>(at::randint(std::numeric_limits<int64_t>::max(), {1}, at::kLong).item<int64_t>());
}

void check_outputs(const Outputs& outputs, const Mechanism& mechanism, const CallSizes& s, const Tensor& like) {
  const Offers offers = mechanism.align().offers();
  check(!outputs.lse || offers.lse, mechanism.align_name(),
        ": got a request for lse, expected none: its weights are not exp(e - lse)");
  check(!outputs.entropy || offers.entropy, mechanism.align_name(),
        ": got a request for entropy, expected none: its weights are not a distribution");
  check(outputs.top >= 0, "outputs: top is ", outputs.top, ", expected at least 0");
  for (const int64_t row : outputs.rows)
    check(row >= 0 && row < s.queries, "outputs: rows has ", row, ", expected 0 to ", s.queries - 1, " (", s.queries,
          " queries)");
  for (const int64_t head : outputs.heads)
    check(head >= 0 && head < s.heads, "outputs: heads has ", head, ", expected 0 to ", s.heads - 1, " (", s.heads,
          " heads)");
  check(outputs.weights || (outputs.rows.empty() && outputs.heads.empty()),
        "outputs: got rows or heads without weights, expected weights = true");
  if (!outputs.links.defined()) return;
  check(offers.log_weights, mechanism.align_name(),
        ": got a request for links, expected none: its weights may be negative and have no logarithm");
  const auto& links = outputs.links;
  check(links.scalar_type() == at::kLong && links.dim() == 2 && links.size(1) == 4, "outputs: links is ",
        links.scalar_type(), " ", shape_of(links), ", expected int64 [n, 4] = batch element, head, query, key");
  check(links.device() == like.device(), "outputs: links is on ", links.device(), ", the query on ", like.device());
  const std::vector<int64_t> max{s.rows, s.heads, s.queries, s.keys};
  const char* names[] = {"batch element", "head", "query", "key"};
  for (int64_t i = 0; i < 4 && links.size(0) > 0; ++i) {
    const auto column = links.select(1, i);
    const int64_t low = column.min().item<int64_t>(), high = column.max().item<int64_t>();
    check(low >= 0 && high < max[static_cast<size_t>(i)], "outputs: links has ", names[i], " ", low < 0 ? low : high,
          ", expected 0 to ", max[static_cast<size_t>(i)] - 1);
  }
}

}  // namespace

void check_like(std::string_view what, const Tensor& tensor, const Tensor& query) {
  if (!tensor.defined()) return;
  check(tensor.scalar_type() == query.scalar_type(), what, " is ", tensor.scalar_type(), ", the query is ",
        query.scalar_type(), "; convert one of them");
  check(tensor.device() == query.device(), what, " is on ", tensor.device(), ", the query on ", query.device(),
        "; move one of them");
}

void check_spread(std::string_view what, const Tensor& tensor, const std::vector<int64_t>& shape) {
  bool fine = tensor.dim() == static_cast<int64_t>(shape.size());
  for (size_t i = 0; fine && i < shape.size(); ++i)
    fine = tensor.size(static_cast<int64_t>(i)) == shape[i] || tensor.size(static_cast<int64_t>(i)) == 1;
  if (!fine) fail(what, " is ", shape_of(tensor), ", expected ", shown(shape), ", or size 1 on axes that broadcast");
}

Call check_extras(const Call& call, const Mechanism& mechanism, const CallSizes& sizes, const Tensor& like) {
  Call checked = call;
  check_mask(checked.mask, sizes, like);
  check_bias(checked.bias, sizes, like);
  check_noise(checked.noise, mechanism, sizes, like);
  check_outputs(checked.outputs, mechanism, sizes, like);
  check(checked.soft_cap >= 0, "call: soft_cap is ", call.soft_cap, ", expected more than 0 (or 0, none)");
  check(checked.block_bytes > 0, "call: block_bytes is ", call.block_bytes, ", expected more than 0");
  return checked;
}

Checked check_call(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
                   const Parameters& parameters, const Call& call) {
  check(keys.defined() && values.defined(), "attend: ", keys.defined() ? "values" : "keys", " is undefined");
  check(keys.dim() == 3 || keys.dim() == 4, "attend: keys is ", shape_of(keys),
        ", expected [B, Lk, Dk] or [B, H, Lk, Dk]");
  Checked c;
  c.heads = keys.dim() == 4;
  auto q = query;
  if (!q.defined()) {
    const int64_t own = mechanism.score().own_queries();
    check(own > 0, mechanism.score_name(),
          ": query is undefined, expected [B, Lq, Dq]; only a score that learns its query (self_attentive) needs none");
    auto shape = keys.sizes().vec();
    shape[shape.size() - 2] = own;
    shape.back() = 0;
    q = at::empty(shape, keys.options());
  }
  for (const auto& [what, x] : {std::pair{"query", q}, {"values", values}})
    check(x.dim() == keys.dim(), "attend: ", what, " is ", shape_of(x), " and keys is ", shape_of(keys),
          "; expected equally many axes");
  check(q.scalar_type() == at::kFloat || q.scalar_type() == at::kDouble, "attend: query is ", q.scalar_type(),
        ", expected float or double");
  check_like("attend: keys", keys, q);
  check_like("attend: values", values, q);
  c.query = c.heads ? q : q.unsqueeze(1);
  c.keys = c.heads ? keys : keys.unsqueeze(1);
  c.values = c.heads ? values : values.unsqueeze(1);
  check(keys.size(0) == q.size(0) && values.size(0) == q.size(0), "attend: query is ", shape_of(q), ", keys ",
        shape_of(keys), ", values ", shape_of(values), "; expected the same batch size");
  check(keys.size(-2) == values.size(-2), "attend: there are ", keys.size(-2), " keys and ", values.size(-2),
        " values; expected one value for each key");
  const int64_t H = c.query.size(1), Hk = c.keys.size(1);
  check(Hk == c.values.size(1), "attend: keys have ", Hk, " heads and values ", c.values.size(1),
        "; expected equally many");
  check(Hk > 0 && H % Hk == 0, "attend: the query has ", H, " heads and the keys ", Hk,
        "; expected a number of key heads that divides the number of query heads");

  c.sizes = {c.query.size(-1), c.keys.size(-1), c.values.size(-1), Sizes::kAny, mechanism.dimensionality()};
  const auto hidden = check_parameters(mechanism.score_name(), mechanism.score().parameters(c.sizes),
                                       parameters.of("score"), H, c.query);
  check_parameters(mechanism.align_name(), mechanism.align().parameters(c.sizes), parameters.of("align"), H, c.query);
  for (const auto& [name, tensor] : parameters)
    check(name.rfind("score.", 0) == 0 || name.rfind("align.", 0) == 0, "parameters: got '", name,
          "', expected names that begin with score. or align.");
  c.sizes.hidden_dim = hidden;
  c.parameters = parameters;
  c.parameters.set_sizes(c.sizes);
  c.call =
      check_extras(call, mechanism, {c.query.size(0), H, c.query.size(2), c.keys.size(2), c.sizes.width()}, c.query);

  if (call.path == Path::reference) {
    const std::string missing = kernels::reference::missing(mechanism.parts());
    check(missing.empty(), "attend: the reference path has ", missing);
    check(q.device().is_cpu(), "attend: the reference path runs on the CPU, the query is on ", q.device());
  }
  return c;
}

}  // namespace heed
