#include "heed/attention/attention.h"

#include <algorithm>

#include "heed/attention/affine.h"
#include "heed/attention/attend_finite.h"
#include "heed/attention/finish.h"
#include "heed/attention/half.h"
#include "heed/attention/mechanism_parts.h"
#include "heed/attention/noise.h"
#include "heed/attention/normalize.h"
#include "heed/attention/prepare.h"
#include "heed/backend/plan.h"
#include "heed/backend/run.h"
#include "heed/torch_support/autocast.h"
#include "heed/torch_support/own_backward.h"

namespace heed {

using namespace backend;

/// The parameters of one part. Cloneable, because clone() silently skips a child that is a plain Module.
struct PartTensors : torch::nn::Cloneable<PartTensors> {
  PartTensors(std::vector<ParameterSpec> given, int64_t heads_given)
      : torch::nn::Cloneable<PartTensors>("heed::PartTensors"), specs(std::move(given)), heads(heads_given) {
    for (const auto& spec : specs)
      rank.push_back(static_cast<size_t>(
          std::count_if(specs.begin(), specs.end(), [&](const auto& other) { return other.name < spec.name; })));
    reset();
  }
  void reset() override {
    tensors.assign(specs.size(), {});
    for (size_t i = 0; i < specs.size(); ++i)
      tensors[rank[i]] = register_parameter(specs[i].name, initialized(specs[i], heads));
  }
  /// The parameter of that name, or an undefined tensor.
  Tensor find(std::string_view name) const {
    for (size_t i = 0; i < specs.size(); ++i)
      if (specs[i].name == name) return tensors[rank[i]];
    return {};
  }

  std::vector<ParameterSpec> specs;
  int64_t heads;             // 0: without a head axis
  std::vector<size_t> rank;  // of specs[i] in the order of the names
  Tensors tensors;           // the registered parameters by rank: named_parameters() would copy them at each call
};

namespace {

Tensor with_head_axis(const Tensor& keep) {
  return keep.defined() && keep.dim() == 3 ? keep.unsqueeze(1) : keep;
}

/// bool [B|1, H|1, Lk, 1]: keys that are not masked by the memory.
Tensor reachable(const Memory& memory) {
  if (memory.keep.defined()) return memory.keep.rows();
  return at::ones({1, 1, memory.length(), 1}, memory.values.rows().options().dtype(at::kBool));
}

/// (queries, which of them have a key) -> queries, 0 where there is no key. What follows gives these a gradient of 0.
class QueriesWithKeys final : public OwnBackward {
 public:
  Tensors forward(const Tensors& in) override { return {without_unreached(in[0], in[1])}; }
  Tensors backward(const Tensors&, const Tensors& grads, const std::vector<bool>&) override { return {grads[0], {}}; }
};

Tensor queries_with_keys(const Tensor& queries, const Tensor& reached) {
  if (queries.device().is_cpu()) return without_unreached(queries, reached);  // mostly all of them
  return heed::run(c10::make_intrusive<QueriesWithKeys>(), {queries, reached})[0];
}

Tensor both(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : a.logical_and(b);
}

}  // namespace

struct AttentionImpl::KeySide {
  Tensor keys, values;  // [B, Hk, Lk, *]
  Tensor keep;          // [B|1, H|1, Lk, 1], or undefined
  Tensor key_count;     // [B], or undefined
};

AttentionImpl::AttentionImpl(AttentionOptions options) : options_(std::move(options)) {
  auto& o = options_;
  check(o.query_dim >= 0 && o.key_dim > 0 && o.value_dim > 0, "attention: got query_dim ", o.query_dim, ", key_dim ",
        o.key_dim, ", value_dim ", o.value_dim, ", expected more than 0");
  check(o.query_dim > 0 || o.mechanism.score().own_queries() > 0,
        "attention: got query_dim 0, expected more than 0; only a score that learns its query needs none");
  check(o.num_heads >= 1, "attention: got num_heads ", o.num_heads, ", expected at least 1");
  if (o.num_kv_heads == 0) o.num_kv_heads = o.num_heads;
  check(o.num_kv_heads >= 1 && o.num_heads % o.num_kv_heads == 0, "attention: got num_kv_heads ", o.num_kv_heads,
        ", expected a divisor of num_heads ", o.num_heads);
  check(o.hidden_dim >= 0, "attention: got hidden_dim ", o.hidden_dim, ", expected at least 0");
  check(o.dropout >= 0 && o.dropout < 1, "attention: dropout is ", o.dropout, ", expected 0 <= dropout < 1");
  check(o.head_dim >= 0, "attention: got head_dim ", o.head_dim, ", expected at least 0");
  check((o.head_dim == 0 || o.hidden_dim == 0 || o.hidden_dim == o.head_dim * o.num_heads),
        "attention: got hidden_dim ", o.hidden_dim, " and head_dim ", o.head_dim,
        ", expected hidden_dim = num_heads * head_dim");
  check(!o.bias || o.projects(), "attention: got bias without projections, expected num_heads > 1 or a head_dim");
  check(o.context_dim >= 0 && (o.context_dim == 0 || o.context_dim == o.value_dim || o.projects()),
        "attention: got context_dim ", o.context_dim, " without projections, expected value_dim ", o.value_dim,
        "; set num_heads or head_dim");
  if (o.context_dim == 0) o.context_dim = o.value_dim;
  if (o.head_dim > 0) o.hidden_dim = o.head_dim * o.num_heads;
  if (o.hidden_dim == 0) o.hidden_dim = (o.key_dim + o.num_heads - 1) / o.num_heads * o.num_heads;
  check(o.hidden_dim % o.num_heads == 0, "attention: got hidden_dim ", o.hidden_dim,
        ", expected a multiple of num_heads ", o.num_heads);
  const int64_t width = o.hidden_dim / o.num_heads;
  head_ = o.projects() ? Sizes{o.query_dim == 0 ? 0 : width, width, width, width}
                       : Sizes{o.query_dim, o.key_dim, o.value_dim, o.hidden_dim};
  head_.dimensionality = o.mechanism.dimensionality();
  check(o.rotary.base >= 0, "attention: got rotary.base ", o.rotary.base, ", expected more than 0, or 0 for none");
  check(o.rotary.base == 0 || (head_.key_dim % 2 == 0 && (head_.query_dim == 0 || head_.query_dim % 2 == 0)),
        "attention: got rotary with heads of ", head_.key_dim, " features, expected an even number");
  reset();
}

void AttentionImpl::reset() {
  const auto& o = options_;
  const int64_t heads = o.num_heads == 1 ? 0 : o.num_heads;
  score_ = register_module("score", std::make_shared<PartTensors>(o.mechanism.score().parameters(head_), heads));
  align_ = register_module("align", std::make_shared<PartTensors>(o.mechanism.align().parameters(head_), heads));
  std::map<std::string, Tensor> names;
  for (const auto& spec : score_->specs) names["score." + spec.name];
  for (const auto& spec : align_->specs) names["align." + spec.name];
  names_ = Parameters(names);
  names_.set_sizes(head_);
  if (!o.projects()) return;
  const int64_t shared = o.hidden_dim / o.num_heads * o.num_kv_heads;
  std::vector<ParameterSpec> specs{
      {"keys", {shared, o.key_dim}}, {"values", {shared, o.value_dim}}, {"out", {o.context_dim, o.hidden_dim}}};
  if (o.query_dim > 0) specs.push_back({"query", {o.hidden_dim, o.query_dim}});
  for (size_t i = specs.size(); o.bias && i-- > 0;)
    specs.push_back({specs[i].name + "_bias", {specs[i].shape[0]}, kZeros});
  heads_ = register_module("heads", std::make_shared<PartTensors>(specs, 0));
}

void AttentionImpl::pretty_print(std::ostream& stream) const {
  const auto& o = options_;
  stream << "heed::Attention(" << o.mechanism.to_string() << "; query " << o.query_dim << ", keys " << o.key_dim
         << ", values " << o.value_dim << ", hidden " << o.hidden_dim << ", heads " << o.num_heads << ", key_heads "
         << o.num_kv_heads << (o.bias ? ", bias" : "") << (o.rotary.base > 0 ? ", rotary" : "") << ")";
}

Parameters AttentionImpl::named() const {
  Parameters all;
  for (const auto& item : named_parameters()) all.set(item.key(), item.value());
  all.set_sizes(head_);
  return all;
}

/// Parameters of score and alignment, without heads.*.
Parameters AttentionImpl::own() const {
  Tensors all = align_->tensors;  // in the order of their names
  all.insert(all.end(), score_->tensors.begin(), score_->tensors.end());
  return names_.with_values(all, 0);
}

void AttentionImpl::set_soft(bool soft) {
  soft_.reset();
  if (!soft) return;
  const std::string spec = options_.mechanism.to_string();
  check(options_.mechanism.parts().align.name == "hard", "attention: got soft weights for ", spec,
        ", expected the alignment hard, which draws from softmax");
  const std::string drawn = " + hard";
  soft_ = Mechanism::parse(std::string(spec).replace(spec.rfind(drawn), drawn.size(), " + softmax"));
}

Call AttentionImpl::with_noise(const Call& call) {
  Call noisy = call;
  if (!is_training()) return noisy;
  noisy.noise.sample = true;
  if (noisy.noise.dropout == 0) noisy.noise.dropout = options_.dropout;
  follow_scope(noisy.noise);
  if (noisy.noise.stream == 0) noisy.noise.stream = streams_.next.fetch_add(1) % (uint64_t{1} << 30);
  return noisy;
}

Tensor AttentionImpl::projected(const Tensor& x, const std::string& weight) const {
  return full(affine(x, heads_->find(weight), options_.bias ? heads_->find(weight + "_bias") : Tensor()));
}

/// Projects x [B, L, D] -> [B, heads, L, head_dim].
Tensor AttentionImpl::split(const Tensor& x, const std::string& weight, int64_t heads) const {
  const auto all = projected(x, weight);
  return all.view({x.size(0), x.size(1), heads, all.size(-1) / heads}).transpose(1, 2);
}

/// Rotary embedding of queries or keys [B, H, L, D], the first at position `first`.
Tensor AttentionImpl::with_rotary(const Tensor& heads, int64_t first) const {
  const Rotary& r = options_.rotary;
  return r.base == 0 || !heads.defined() || heads.size(-1) == 0 ? heads : rotated(heads, first, r.layout, r.base);
}

Attended AttentionImpl::finish(Attended attended) const {
  if (!options_.projects()) return attended;
  attended.context = projected(attended.context.transpose(1, 2).flatten(2), "out");
  return attended;
}

Attended AttentionImpl::forward(const Tensor& query, const Tensor& keys, const Tensor& values, const Call& given) {
  Call call = with_noise(given);
  const auto& o = options_;
  const auto check_width = [](const char* what, const Tensor& x, int64_t width) {
    check(x.defined() && x.dim() == 3 && x.size(2) == width, "attention: ", what, " is ", shape_of(x),
          ", expected [B, L, ", width, "]");
  };
  check_width("keys", keys, o.key_dim);
  check_width("values", values, o.value_dim);
  if (query.defined() && o.query_dim > 0) check_width("query", query, o.query_dim);
  const auto first_query = [&](int64_t Lq) { return first_position(call.mask, {0, 0, Lq, keys.size(1)}); };
  if (!o.projects())
    return attend(with_rotary(query, query.defined() ? first_query(query.size(1)) : 0), with_rotary(keys, 0), values,
                  mechanism(), own(), call);

  // Padding is set to 0 before the projections, so that a NaN in it cannot reach their gradients.
  call.mask.keep = with_head_axis(call.mask.keep);
  Tensor q = query, k = keys, v = values;
  check(q.defined() || o.query_dim == 0, "attention: query is undefined, expected [B, Lq, ", o.query_dim, "]");
  const int64_t Lq = q.defined() ? q.size(1) : mechanism().score().own_queries();
  check(v.size(1) == k.size(1) && v.size(0) == k.size(0) && (!q.defined() || q.size(0) == k.size(0)),
        "attention: query is ", shape_of(q), ", keys ", shape_of(k), ", values ", shape_of(v),
        "; expected the same batch size, and one value for each key");
  check_like("attention: values", v, k);
  if (q.defined()) check_like("attention: keys", k, q);
  if (call.mask.any() || mechanism().score().max_keys() < k.size(1)) {
    const CallRecord checked =
        normalize_options(mechanism(), call, keys.size(0), o.num_heads, Lq, keys.size(1), head_, keys);
    call.noise.seed = checked.call.noise.seed;  // drawn once
    const Reach found = reach(checked.mask(), checked.whole(), keys.device(), /*counted=*/false);
    if (q.defined()) q = without_unreached(q.unsqueeze(1), found.rows).squeeze(1);
    k = without_unreached(k.unsqueeze(1), found.keys).squeeze(1);
    v = without_unreached(v.unsqueeze(1), found.values).squeeze(1);
  }
  const Tensor heads =
      q.defined() ? split(q, "query", o.num_heads) : at::empty({keys.size(0), o.num_heads, Lq, 0}, keys.options());
  return finish(attend_finite(with_rotary(heads, first_query(Lq)), with_rotary(split(k, "keys", o.num_kv_heads), 0),
                              split(v, "values", o.num_kv_heads), mechanism(), own(), call));
}

namespace {

/// A tensor of the device of x, in float if x has a half type; never read.
Tensor float_like(const Tensor& x) {
  return is_half(x) ? at::empty({0}, x.options().dtype(at::kFloat)) : x;
}

}  // namespace

AttentionImpl::KeySide AttentionImpl::key_side(const Tensor& keys, const Tensor& values, const Mask& given,
                                               int64_t first_key) const {
  const auto& o = options_;
  check(given.causal == Causal::none && given.left < 0 && given.right < 0,
        "attention: got causal or a window in prepare(), expected them in forward()");
  check(keys.defined() && keys.dim() == 3 && keys.size(2) == o.key_dim, "attention: keys is ", shape_of(keys),
        ", expected [B, Lk, ", o.key_dim, "]");
  check(values.defined() && values.dim() == 3 && values.size(2) == o.value_dim && values.size(1) == keys.size(1) &&
            values.size(0) == keys.size(0),
        "attention: values is ", shape_of(values), ", expected [", keys.size(0), ", ", keys.size(1), ", ", o.value_dim,
        "]");
  check(keys.scalar_type() == at::kFloat || keys.scalar_type() == at::kDouble || is_half(keys), "attention: keys is ",
        keys.scalar_type(), ", expected float, double or a half type");
  Call call;
  call.mask = given;
  const CallRecord checked =
      normalize_options(o.mechanism, call, keys.size(0), o.num_heads, 1, keys.size(1), head_, float_like(keys));
  KeySide side{keys.unsqueeze(1), values.unsqueeze(1), {}, checked.in[kKeyCount]};
  check(given.first_query == 0, "attention: got first_query in prepare(), expected it in forward()");
  const int64_t max = o.mechanism.score().max_keys();
  if (given.any() || max < keys.size(1)) {
    const Reach found = reach(checked.mask(), checked.whole(), keys.device(), /*counted=*/false);
    if (given.any()) side.keep = found.keys;
    side.keys = without_unreached(side.keys, found.keys);
    side.values = without_unreached(side.values, found.values);
  }
  if (o.projects()) {
    side.keys = split(side.keys.squeeze(1), "keys", o.num_kv_heads);
    side.values = split(side.values.squeeze(1), "values", o.num_kv_heads);
  }
  side.keys = with_rotary(widened(side.keys), first_key);
  side.values = widened(side.values);
  return side;
}

Memory AttentionImpl::prepare(const Tensor& keys, const Tensor& values, const Mask& mask) {
  return prepare_from(0, keys, values, mask);
}

/// first_key: position of the first key.
Memory AttentionImpl::prepare_from(int64_t first_key, const Tensor& given_keys, const Tensor& given_values,
                                   const Mask& mask) {
  const Tensor keys = full(given_keys), values = full(given_values);
  const FullPrecision precision;
  const KeySide side = key_side(keys, values, mask, first_key);
  const auto parameters = widened(own());
  const auto& mechanism = options_.mechanism;
  // A memory is a copy: later in-place changes of the caller's tensors must not affect it.
  const auto copied = [](const Tensor& x, const Tensor& given) { return x.is_alias_of(given) ? x.clone() : x; };
  const bool per_head = options_.num_heads > 1 && !mechanism.score().parameters(head_).empty();
  Memory memory;
  memory.keys =
      Growing(copied(mechanism.score().prepare_keys(parameters.of("score"),
                                                    per_head ? repeat_heads(side.keys, options_.num_heads) : side.keys),
                     keys));
  memory.values = Growing(copied(side.values, values));
  pack(memory);
  if (side.keep.defined()) memory.keep = Growing(side.keep);
  if (side.key_count.defined()) memory.key_count = side.key_count.clone();
  memory.counted = side.key_count.defined() && !mask.keep.defined();
  if (mechanism.align().looks_at_keys()) {
    const auto all = repeat_heads(side.keys, options_.num_heads);
    memory.align_keys = Growing(mechanism.align().prepare_keys(parameters.of("align"), all, reachable(memory)));
  }
  return memory;
}

/// Adds what the backend of later calls computes from the keys.
void AttentionImpl::pack(Memory& memory) const {
  const at::NoGradGuard no_grad;
  CallRecord r = normalize_options(options_.mechanism, {}, memory.batch(), options_.num_heads, 1, memory.length(),
                                   head_, memory.values.rows());
  r.in[kKeys] = memory.keys.rows();
  r.in[kValues] = memory.values.rows();
  memory.packed_by = plan(r).backend;
  memory.packed_keys = Growing(memory.packed_by->pack(r));
}

Memory AttentionImpl::append(const Memory& memory, const Tensor& keys, const Tensor& values, const Mask& mask) {
  const auto& mechanism = options_.mechanism;
  check(mechanism.align().appendable(), mechanism.align_name(),
        ": got keys to append, expected prepare() with all keys, which it reads at once");
  if (memory.length() == 0 && !memory.values.defined()) return prepare(keys, values, mask);
  check(keys.defined() && keys.dim() > 0 && keys.size(0) == memory.batch(), "attention: keys to append is ",
        shape_of(keys), ", the memory has batch size ", memory.batch());
  const Memory more = prepare_from(memory.length(), keys, values, mask);
  Memory grown = memory;
  grown.keys = memory.keys.with(more.keys.rows());
  if (memory.packed_keys.defined()) grown.packed_keys = memory.packed_keys.with(more.packed_keys.rows());
  grown.values = memory.values.with(more.values.rows());
  if (memory.align_keys.defined()) grown.align_keys = memory.align_keys.with(more.align_keys.rows());
  if (memory.keep.defined() || more.keep.defined()) {
    const int64_t heads = options_.num_heads;
    const auto flags = [&](const Memory& m) {  // with all axes expanded, so that both can be concatenated
      return reachable(m).expand({m.batch(), heads, m.length(), 1});
    };
    const bool whole = memory.keep.defined() && memory.keep.rows().sizes() == flags(memory).sizes();
    grown.keep = (whole ? memory.keep : Growing(flags(memory))).with(flags(more));
    grown.counted = false;
  }
  if (memory.key_count.defined() || more.key_count.defined()) {  // keys up to the last one that is not padding
    const auto whole = at::full({more.batch()}, more.length(), keys.options().dtype(at::kLong));
    grown.key_count = memory.length() + (more.key_count.defined() ? more.key_count : whole);
  }
  return grown;
}

Attended AttentionImpl::forward(const Tensor& given_query, const Memory& memory, const Call& given) {
  const Tensor query = full(given_query);
  const FullPrecision precision;
  const auto& o = options_;
  check(memory.values.defined(), "attention: got an empty memory, expected one from prepare()");
  Call call = with_noise(given);
  check(call.path != Path::reference,
        "attention: got a memory on the reference path, expected unprojected keys; call forward(query, keys, values)");
  const auto& values = memory.values.rows();
  const int64_t B = values.size(0), Lk = memory.length();
  const int64_t Lq = query.defined() ? query.size(-2) : mechanism().score().own_queries();
  check(query.defined() || Lq > 0, "attention: query is undefined, expected [", B, ", Lq, ", o.query_dim, "]");
  auto q = query.defined() ? query : at::empty({B, Lq, 0}, values.options());
  check(q.dim() == 3 && q.size(0) == B && (!query.defined() || q.size(2) == o.query_dim), "attention: query is ",
        shape_of(q), ", expected [", B, ", Lq, ", o.query_dim, "]");
  const at::ScalarType type = q.scalar_type();
  const bool half = is_half(q);  // the memory is in float, and so is the call
  check_like("attention: the memory", values, half ? float_like(q) : q);
  CallRecord r = normalize_options(mechanism(), call, B, o.num_heads, Lq, Lk, head_, values);
  r.head_axis = o.projects();
  const Tensor call_count = r.in[kKeyCount];
  if (memory.counted && !r.in[kKeep].defined())
    r.in[kKeyCount] = call_count.defined() ? at::minimum(memory.key_count, call_count) : memory.key_count;
  else if (memory.keep.defined())
    r.in[kKeep] = both(r.in[kKeep], memory.keep.rows().transpose(-1, -2));
  r.in[kKeys] = memory.keys.rows();
  r.in[kValues] = values;
  Choice choice = plan(r);
  check(choice.backend != nullptr, "attend: ", choice.plan.refused);

  const MechanismParts& parts = *r.parts;
  const Mask mask = r.mask();
  const bool masked = given.mask.any() || r.max_keys < Lk;  // by this call
  const bool learning = at::GradMode::is_enabled();
  const bool skips = choice.backend->skips_unreached(r);
  // The memory has no NaN in its keys, but a query without keys may.
  const bool clears_rows = mask.any() && !skips && (masked || learning || !choice.backend->skips_rows_without_keys(r));
  if ((masked && !skips) || clears_rows || parts.align->positional() || choice.backend->reads() == Reads::prepared)
    r.reach = reach(mask, r.whole(), q.device(), parts.align->positional());
  r.in[kReachCount] = r.reach.key_count;
  if (memory.key_count.defined())  // the same key count as in a call with unprepared keys
    r.in[kReachCount] =
        (call_count.defined() ? at::minimum(memory.key_count, call_count) : memory.key_count).view({-1, 1, 1, 1, 1});
  auto heads = q.unsqueeze(1);
  if (clears_rows)
    heads = without_unreached(heads, r.reach.rows);
  else if (mask.any() && learning)  // for the gradients of the projections' weights
    heads = queries_with_keys(heads, reached_rows(mask, r.whole(), q.device()));
  if (o.projects())
    heads = query.defined() && o.query_dim > 0 ? split(heads.squeeze(1), "query", o.num_heads)
                                               : heads.expand({B, o.num_heads, Lq, 0});
  heads = with_rotary(widened(heads), first_position(call.mask, r.whole()));
  const Parameters parameters = half ? widened(own()) : own();
  set_parameters(r, parameters);
  r.in[kQuery] = parts.score->prepare_query(parameters.of("score"), heads);
  r.in[kAlignQuery] = parts.align->prepare_query(parameters.of("align"), heads);
  r.in[kAlignKeys] = memory.align_keys.rows();
  // Keys that only this call masks are set to 0 here, after the projections, and cannot affect the result. Keys that
  // the memory masks were set to 0 before the projections.
  if (masked && !skips) {
    r.in[kKeys] = without_unreached(r.in[kKeys], r.reach.keys);
    r.in[kValues] = without_unreached(values, r.reach.values);
  } else if (!masked && memory.packed_by == choice.backend) {
    r.in[kPackedKeys] = memory.packed_keys.rows();
  }
  if (r.offers.policy) r.reach.keys = reachable(memory);  // selects among the keys of the memory, once for all calls
  add_tiles(r, *choice.backend);
  Attended result = run(*choice.backend, r);
  Attended all = heed::finish(r, std::move(result), std::move(choice.plan));
  if (half) all.context = all.context.to(type);
  return finish(std::move(all));
}

}  // namespace heed
