#include "heed/attention/normalize.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/attention/mechanism_parts.h"

namespace heed {

using namespace backend;

namespace {

/// Adds the head axis to keep, bias or uniforms if it is missing.
Tensor with_heads(const char* what, const Tensor& x, int64_t axes) {
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

/// The size of an axis of SlotSpec::shape.
int64_t size_of(const CallRecord& r, char axis) {
  return axis == 'B' ? r.batch : axis == 'H' ? r.heads : axis == 'Q' ? r.queries : axis == 'K' ? r.keys : r.width();
}

[[noreturn]] void refuse_shape(const CallRecord& r, const SlotSpec& spec, const Tensor& x) {
  std::vector<int64_t> expected;
  for (const char* axis = spec.shape; *axis != '\0'; ++axis) expected.push_back(size_of(r, *axis));
  fail(spec.name, " is ", shape_of(x), ", expected ", shown(expected), ", or size 1 on axes that broadcast");
}

/// Takes what the caller gave from the call into its slot, with all axes.
void take_slots(CallRecord& r, const Tensor& like) {
  for (size_t slot = 0; slot < kSlots; ++slot) {
    const SlotSpec& spec = kSlotSpecs[slot];
    if (spec.of == nullptr) continue;
    Tensor& given = spec.of(r.call);
    if (!given.defined()) continue;
    Tensor& x = r.in[slot];
    x = std::move(given);
    given.reset();
    if (spec.like_query) check_like(spec.name, x, like);
    check(x.device() == like.device(), spec.name, " is on ", x.device(), ", the query on ", like.device());
    if (spec.shape == nullptr) continue;
    const auto axes = static_cast<int64_t>(std::char_traits<char>::length(spec.shape));
    x = with_heads(spec.name, x, axes);
    for (int64_t i = 0; i < axes; ++i)
      if (x.size(i) != 1 && x.size(i) != size_of(r, spec.shape[i])) refuse_shape(r, spec, x);
  }
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

void check_mask(CallRecord& r) {
  const Mask& mask = r.call.mask;
  if (const Tensor& keep = r.in[kKeep]; keep.defined())
    check(keep.scalar_type() == at::kBool, "mask: keep is ", keep.scalar_type(),
          ", expected bool (true = may be attended); a float mask is a bias");
  if (Tensor& count = r.in[kKeyCount]; count.defined()) {
    check(count.scalar_type() == at::kLong, "mask: key_count is ", count.scalar_type(), ", expected int64");
    check(count.dim() == 1 && count.size(0) == r.batch, "mask: key_count is ", shape_of(count), ", expected [", r.batch,
          "]");
    check_range(count, r.keys);
  }
  check(mask.left >= -1, "mask: left is ", mask.left, ", expected at least 0 (or -1, no limit)");
  check(mask.right >= -1, "mask: right is ", mask.right, ", expected at least 0 (or -1, no limit)");
  check(mask.first_query >= 0, "mask: first_query is ", mask.first_query, ", expected at least 0");
  check(mask.first_query == 0 || mask.causal != Causal::bottom_right, "mask: first_query is ", mask.first_query,
        " with causal bottom_right, where the positions follow from the number of keys; leave it 0");
}

void check_bias(const CallRecord& r) {
  if (const Tensor& x = r.in[kPerKey]; x.defined())
    check(x.size(2) == r.keys, "bias: per_key is ", shape_of(x), ", expected one for each of ", r.keys, " keys");
  if (const Tensor& x = r.in[kRelative]; x.defined())
    check(x.dim() == 2 && (x.size(0) == 1 || x.size(0) == r.heads) && x.size(1) % 2 == 1, "bias: relative is ",
          shape_of(x), ", expected [", r.heads, " or 1, 2R + 1]");
  if (const Tensor& x = r.in[kAlibi]; x.defined())
    check(x.dim() == 1 && x.size(0) == r.heads, "bias: alibi is ", shape_of(x), ", expected [", r.heads,
          "], one ALiBi slope for each head");
}

void check_uniforms(CallRecord& r) {
  Tensor& x = r.in[kUniforms];
  if (!x.defined()) return;
  check(r.offers.draws && r.call.noise.sample, "noise: got uniforms, but ",
        r.offers.draws ? "sample is false; set noise.sample" : r.parts->align_name + " does not sample keys");
  if (r.width() == 1 && x.dim() < 5)
    x = with_heads("noise: uniforms", x, 4).unsqueeze(-1);
  else
    x = with_heads("noise: uniforms", x, 5);
  const std::vector<int64_t> shape{r.batch, r.heads, r.queries, r.keys, r.width()};
  if (x.sizes() != at::IntArrayRef(shape)) fail("noise: uniforms is ", shape_of(x), ", expected ", shown(shape));
  if (x.numel() == 0) return;
  if (!x.device().is_cpu()) {  // reading them would wait for the device
    x = x.clamp(std::numeric_limits<float>::min(), 1 - std::numeric_limits<float>::epsilon() / 2);
    return;
  }
  const double min = x.min().item<double>(), max = x.max().item<double>();
  check(min > 0 && max < 1, "noise: uniforms are from ", min, " to ", max, ", expected 0 < u < 1");
}

void check_noise(CallRecord& r) {
  Noise& noise = r.call.noise;
  check(noise.dropout >= 0 && noise.dropout < 1, "noise: dropout is ", noise.dropout, ", expected 0 <= dropout < 1");
  check(noise.stream < (uint64_t{1} << 30), "noise: stream is ", noise.stream, ", expected less than 2^30");
  const int64_t last = (noise.first_row + r.batch) * r.heads;
  check(noise.first_row >= 0 && last < (int64_t{1} << 32), "noise: first_row is ", noise.first_row,
        ", expected at least 0 and (first_row + B) H less than 2^32");
  check_uniforms(r);
  const bool drawn = (noise.sample && (r.offers.draws || r.offers.policy)) || noise.dropout > 0;
  while (drawn && noise.seed == 0)
    noise.seed =
        static_cast<uint64_t>(at::randint(std::numeric_limits<int64_t>::max(), {1}, at::kLong).item<int64_t>());
}

void check_links(CallRecord& r, const Tensor& like) {
  Tensor& links = r.call.outputs.links;
  check(r.offers.log_weights, r.parts->align_name,
        ": got a request for links, expected none: its weights may be negative and have no logarithm");
  check(links.scalar_type() == at::kLong && links.dim() == 2 && links.size(1) == 4, "outputs: links is ",
        links.scalar_type(), " ", shape_of(links), ", expected int64 [n, 4] = batch element, head, query, key");
  check(links.device() == like.device(), "outputs: links is on ", links.device(), ", the query on ", like.device());
  const int64_t sizes[] = {r.batch, r.heads, r.queries, r.keys};
  const char* names[] = {"batch element", "head", "query", "key"};
  if (!links.device().is_cpu()) {  // reading them would wait for the device
    Tensors columns;
    for (int64_t i = 0; i < 4; ++i) columns.push_back(links.select(1, i).clamp(0, std::max<int64_t>(sizes[i], 1) - 1));
    links = at::stack(columns, 1);
    return;
  }
  for (int64_t i = 0; i < 4 && links.size(0) > 0; ++i) {
    const auto column = links.select(1, i);
    const int64_t low = column.min().item<int64_t>(), high = column.max().item<int64_t>();
    check(low >= 0 && high < sizes[i], "outputs: links has ", names[i], " ", low < 0 ? low : high, ", expected 0 to ",
          sizes[i] - 1);
  }
}

void check_outputs(CallRecord& r, const Tensor& like) {
  const Outputs& outputs = r.call.outputs;
  check(!outputs.lse || r.offers.lse, r.parts->align_name,
        ": got a request for lse, expected none: its weights are not exp(e - lse)");
  check(!outputs.entropy || r.offers.entropy, r.parts->align_name,
        ": got a request for entropy, expected none: its weights are not a distribution");
  check(outputs.top >= 0, "outputs: top is ", outputs.top, ", expected at least 0");
  for (const int64_t row : outputs.rows)
    check(row >= 0 && row < r.queries, "outputs: rows has ", row, ", expected 0 to ", r.queries - 1, " (", r.queries,
          " queries)");
  for (const int64_t head : outputs.heads)
    check(head >= 0 && head < r.heads, "outputs: heads has ", head, ", expected 0 to ", r.heads - 1, " (", r.heads,
          " heads)");
  check(outputs.weights || (outputs.rows.empty() && outputs.heads.empty()),
        "outputs: got rows or heads without weights, expected weights = true");
  if (outputs.links.defined()) check_links(r, like);
}

/// What a score that learns its queries gets instead of one: [B, (H,) Lq, 0].
Tensor no_query(const Mechanism& mechanism, const Tensor& keys) {
  const int64_t own = mechanism.score().own_queries();
  check(own > 0, mechanism.score_name(),
        ": query is undefined, expected [B, Lq, Dq]; only a score that learns its query (self_attentive) needs none");
  auto shape = keys.sizes().vec();
  shape[shape.size() - 2] = own;
  shape.back() = 0;
  return at::empty(shape, keys.options());
}

void check_shapes(const Tensor& query, const Tensor& keys, const Tensor& values) {
  const auto check_axes = [&](const char* what, const Tensor& x) {
    check(x.dim() == keys.dim(), "attend: ", what, " is ", shape_of(x), " and keys is ", shape_of(keys),
          "; expected equally many axes");
  };
  check_axes("query", query);
  check_axes("values", values);
  check(query.scalar_type() == at::kFloat || query.scalar_type() == at::kDouble, "attend: query is ",
        query.scalar_type(), ", expected float or double, or a half type for query, keys and values alike");
  check_like("attend: keys", keys, query);
  check_like("attend: values", values, query);
  check(keys.size(0) == query.size(0) && values.size(0) == query.size(0), "attend: query is ", shape_of(query),
        ", keys ", shape_of(keys), ", values ", shape_of(values), "; expected the same batch size");
  check(keys.size(-2) == values.size(-2), "attend: there are ", keys.size(-2), " keys and ", values.size(-2),
        " values; expected one value for each key");
  if (keys.dim() == 3) return;
  const int64_t H = query.size(1), Hk = keys.size(1);
  check(Hk == values.size(1), "attend: keys have ", Hk, " heads and values ", values.size(1),
        "; expected equally many");
  check(Hk > 0 && H % Hk == 0, "attend: the query has ", H, " heads and the keys ", Hk,
        "; expected a number of key heads that divides the number of query heads");
}

/// Checks the parameters against those that both parts declare; returns the sizes with Dh, which is read from them.
Sizes check_all_parameters(const MechanismParts& parts, const Parameters& parameters, Sizes sizes, int64_t heads,
                           const Tensor& like) {
  const auto declared = parts.declared(sizes);
  const Parameters score = parameters.of("score"), align = parameters.of("align");
  sizes.hidden_dim = check_parameters(parts.score_name, declared->score, score, heads, like);
  check_parameters(parts.align_name, declared->align, align, heads, like);
  if (score.size() + align.size() == parameters.size()) return sizes;
  for (const auto& [name, tensor] : parameters)
    check(name.rfind("score.", 0) == 0 || name.rfind("align.", 0) == 0, "parameters: got '", name,
          "', expected names that begin with score. or align.");
  return sizes;
}

}  // namespace

void set_parameters(CallRecord& record, const Parameters& parameters) {
  record.in.resize(kSlots);
  for (size_t i = 0; i < parameters.size(); ++i) record.in.push_back(parameters.at(i));
  const Sizes sizes = record.sizes();
  record.names = parameters;
  record.names.set_sizes(sizes);
}

CallRecord normalize_options(const Mechanism& mechanism, const Call& call, int64_t batch, int64_t heads,
                             int64_t queries, int64_t keys, const Sizes& sizes, const Tensor& like) {
  const MechanismParts& parts = *mechanism.shared_parts();
  CallRecord r;
  r.in.reserve(kSlots + 8);
  r.call = call;
  if (call.replace_weights) {
    r.call.outputs.weights = true;
    r.call.outputs.rows.clear();
    r.call.outputs.heads.clear();
    if (call.path == Path::fastest) r.call.path = Path::composed;
  }
  r.batch = batch;
  r.heads = heads;
  r.queries = queries;
  r.keys = keys;
  r.max_keys = parts.score->max_keys();
  r.score = parts.score_kernel;
  r.align = parts.align_kernel[call.noise.sample ? 1 : 0];
  r.offers = parts.offers;
  r.floats_per_pair = parts.score->floats_per_pair(sizes);
  r.names.set_sizes(sizes);
  r.parts = mechanism.shared_parts();
  r.spec = &parts.spec;
  take_slots(r, like);
  // Backward reads the links again, and the caller may fill the same tensor with others before.
  if (r.call.outputs.links.defined() && at::GradMode::is_enabled()) r.call.outputs.links = r.call.outputs.links.clone();
  check_mask(r);
  check_bias(r);
  check_noise(r);
  check_outputs(r, like);
  check(call.soft_cap >= 0, "call: soft_cap is ", call.soft_cap, ", expected more than 0 (or 0, none)");
  check(call.block_bytes > 0, "call: block_bytes is ", call.block_bytes, ", expected more than 0");
  return r;
}

CallRecord normalize(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
                     const Parameters& parameters, const Call& call) {
  check(keys.defined() && values.defined(), "attend: ", keys.defined() ? "values" : "keys", " is undefined");
  check(keys.dim() == 3 || keys.dim() == 4, "attend: keys is ", shape_of(keys),
        ", expected [B, Lk, Dk] or [B, H, Lk, Dk]");
  const Tensor q = query.defined() ? query : no_query(mechanism, keys);
  check_shapes(q, keys, values);
  const bool head_axis = keys.dim() == 4;
  const int64_t heads = head_axis ? q.size(1) : 1;
  const Sizes sizes = check_all_parameters(
      *mechanism.shared_parts(), parameters,
      {q.size(-1), keys.size(-1), values.size(-1), Sizes::kAny, mechanism.dimensionality()}, heads, q);
  CallRecord r = normalize_options(mechanism, call, q.size(0), heads, q.size(-2), keys.size(-2), sizes, q);
  r.head_axis = head_axis;
  r.in[kQuery] = head_axis ? q : q.unsqueeze(1);
  r.in[kKeys] = head_axis ? keys : keys.unsqueeze(1);
  r.in[kValues] = head_axis ? values : values.unsqueeze(1);
  set_parameters(r, parameters);
  return r;
}

}  // namespace heed
