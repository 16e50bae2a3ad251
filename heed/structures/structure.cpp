#include "heed/structures/structure.h"

#include <algorithm>

#include "heed/structures/checks.h"

namespace heed {
namespace {

bool has_score(const std::string& mechanism) {
  return mechanism.find('+') != std::string::npos;
}

std::string shape_expected(const StructureSignature& takes, int64_t width) {
  const std::string positions = takes.depth == 1   ? "L"
                                : takes.depth == 2 ? "S, L"
                                                   : std::to_string(takes.depth) + " axes of positions";
  return "[B, " + positions + ", " + std::to_string(width) + "]";
}

}  // namespace

const Tensor& StructureOutput::add(const std::string& slot, const Attended& attended) {
  const auto again = [&](const auto& step) { return step.first == slot || step.first.rfind(slot + ".", 0) == 0; };
  const auto before = std::count_if(steps.begin(), steps.end(), again);
  steps.emplace_back(before == 0 ? slot : slot + "." + std::to_string(before + 1), attended);
  return steps.back().second.context;
}

Tensor Slot::operator()(StructureOutput& out, const Tensor& query, const Features& features, const Call& call,
                        const Tensor& values) const {
  const Tensor& read = values.defined() ? values : features.rows;
  return out.add(name_,
                 attention_->forward(query, features.rows, read, nth_use(over(call, features), out.steps.size())));
}

StructureOutput Nested::operator()(StructureOutput& out, const StructureInput& given) const {
  StructureInput own = given;
  own.call = nth_use(given.call, out.steps.size());
  StructureOutput inner = structure_->forward(own);
  for (const auto& [step, attended] : inner.steps) out.add(name_ + "/" + step, attended);
  return inner;
}

Structure::Structure(StructureOptions options, std::string defaults)
    : options_(std::move(options)), default_(std::move(defaults)) {
  check(!options_.features.empty(), "structure: got no width of features, expected one, or one for each input");
  for (const int64_t width : options_.features)
    check(width > 0, "structure: an input is ", width, " wide, expected more than 0");
  check(options_.query_dim >= 0, "structure: the query is ", options_.query_dim, " wide, expected at least 0");
}

bool Structure::own_scores() const {
  return !has_score(default_);
}

Mechanism Structure::mechanism() const {
  const auto& given = options_.mechanism;
  if (!own_scores()) {
    check(given.empty() || has_score(given), "structure: the mechanism is '", given,
          "', expected a score and an alignment: 'additive + ", given, "'");
    return Mechanism::parse(inside());
  }
  const std::string spec = "dot + " + (inside());
  check(!has_score(given) && parse_mechanism(spec).dimensionality.name == "single",
        "structure: it computes its scores itself; got '", given,
        "', expected an alignment alone, such as 'sparsemax'");
  return Mechanism::parse(spec);
}

int64_t Structure::width_of(size_t input) const {
  const auto& widths = options_.features;
  check(widths.size() == 1 || input < widths.size(), "structure: ", widths.size(), " widths of features, but input ",
        input + 1, " needs one; expected one for each input, or one for all");
  return widths.size() == 1 ? widths[0] : widths[input];
}

int64_t Structure::width_of_query() const {
  return options_.query_dim > 0 ? options_.query_dim : width_of(0);
}

Slot Structure::slot_of(const AttentionOptions& options, const std::string& name) {
  Slot made;
  made.name_ = name;
  made.attention_ = register_module(name, Attention(options));
  return made;
}

Slot Structure::slot_of(const Mechanism& mechanism, const std::string& name, int64_t query, int64_t keys,
                        int64_t values) {
  check(!own_scores() || options_.num_heads == 1, "structure: ", options_.num_heads,
        " heads, but it computes its scores itself, once; expected 1");
  return slot_of(AttentionOptions{.query_dim = query,
                                  .key_dim = keys,
                                  .value_dim = values == 0 ? keys : values,
                                  .hidden_dim = options_.hidden_dim,
                                  .num_heads = options_.num_heads,
                                  .mechanism = mechanism,
                                  .dropout = options_.dropout},
                 name);
}

Slot Structure::slot(const std::string& name, int64_t query, int64_t keys, int64_t values) {
  return slot_of(mechanism(), name, query, keys, values);
}

Slot Structure::slot_with_score(const std::string& score, const std::string& name, int64_t query, int64_t keys,
                                int64_t values) {
  const MechanismSpec parts = mechanism().parts();
  const bool own = parts.score.name == score;
  const std::string many = parts.dimensionality.name == "single" ? "" : ", " + parts.dimensionality.to_string();
  const std::string spec = (own ? parts.score.to_string() : score) + " + " + parts.align.to_string() + many;
  return slot_of(Mechanism::parse(spec), name, query, keys, values);
}

Nested Structure::nested(const std::string& name, const std::string& spec, const StructureOptions& options) {
  Nested made;
  made.name_ = name;
  made.structure_ = register_module(name, structure(spec, options));
  return made;
}

Tensor Structure::parameter(const std::string& name, std::vector<int64_t> shape, Initial initial) {
  return register_parameter(name, initialized(ParameterSpec{name, std::move(shape), initial}));
}

StructureOutput Structure::forward(const StructureInput& given) {
  const StructureSignature signature = takes();
  check(given.features.size() == signature.features.size(), spec_, ": ", given.features.size(), " inputs, expected ",
        signature.features.size(), ": ", joined(signature.features));
  const auto& mask = given.call.mask;
  check(!mask.keep.defined() && !mask.key_count.defined(), spec_,
        ": got a mask of keys in the call, expected none; set the keep of each input");
  check(!given.call.noise.uniforms.defined(), spec_,
        ": got uniforms, expected a seed: uniforms fit a single attention call, and a structure may make several");
  check(signature.masks || (!mask.any() && !given.call.bias.full.defined() && !given.call.bias.per_key.defined() &&
                            !given.call.bias.relative.defined() && !given.call.bias.alibi.defined()),
        spec_, ": got causal, window or biases, expected none: this structure does not support them");

  StructureInput clean = given;
  const auto& first = given.features.front();
  const auto own = parameters();
  const auto check_fits = [&](const std::string& what, const Tensor& x) {
    check_attendable(what, x);
    if (!own.empty()) check_type(what, x, own[0]);
  };
  for (size_t i = 0; i < clean.features.size(); ++i) {
    Features& f = clean.features[i];
    const auto name = spec_ + ": " + signature.features[i];
    check(f.rows.defined() && f.rows.dim() == signature.depth + 2 && f.width() == width_of(i), name, " is ",
          shape_of(f.rows), ", expected ", shape_expected(signature, width_of(i)));
    check(f.batch() == first.batch() && (!signature.same_length || f.length() == first.length()), name, " is ",
          shape_of(f.rows), " and ", signature.features[0], " is ", shape_of(first.rows),
          "; expected the same batch size", signature.same_length ? " and length" : "");
    check_fits(name, f.rows);
    check_keep(name, f);
    f = f.without_padding();
  }
  if (signature.query && given.query.defined()) check_fits(spec_ + ": query", given.query);
  if (signature.query)
    check(given.query.defined() && given.query.dim() == 3 && given.query.size(0) == first.batch() &&
              given.query.size(2) == width_of_query(),
          spec_, ": query is ", shape_of(given.query), ", expected [", first.batch(), ", Lq, ", width_of_query(), "]");
  else
    check(!given.query.defined(), spec_, ": got a query, expected none: it computes its own");
  check(signature.edges == given.edges.defined(), spec_,
        signature.edges ? ": edges are missing, expected int64 [2, E]"
                        : ": got edges, expected none: its inputs are not a graph");
  return arrange(clean);
}

std::shared_ptr<torch::nn::Module> Structure::clone(const c10::optional<torch::Device>& device) const {
  const auto copy = structure(spec_, options_);
  copy->clone_(const_cast<Structure&>(*this), device);  // clone_ takes a non-const reference but only reads it
  return copy;
}

void Structure::clone_(torch::nn::Module& other, const c10::optional<torch::Device>& device) {
  const at::NoGradGuard no_grad;
  const auto take = [&](const auto& mine, const auto& theirs) {
    for (const auto& item : mine) {
      const auto& from = *theirs.find(item.key());
      Tensor to = item.value();
      to.set_data(device ? from.detach().to(*device, from.scalar_type(), /*non_blocking=*/false, /*copy=*/true)
                         : from.detach().clone());
      to.requires_grad_(from.requires_grad());
    }
  };
  take(named_parameters(), other.named_parameters());
  take(named_buffers(), other.named_buffers());
  const auto modes = other.named_modules("", /*include_self=*/false);
  train(other.is_training());
  for (const auto& item :
       named_modules("", /*include_self=*/false))  // parents first, since train() sets all submodules
    item.value()->train((*modes.find(item.key()))->is_training());
}

void Structure::pretty_print(std::ostream& stream) const {
  std::vector<std::string> widths;
  const auto names = takes().features;
  for (size_t i = 0; i < names.size(); ++i) widths.push_back(names[i] + " " + std::to_string(width_of(i)));
  if (takes().query) widths.push_back("query " + std::to_string(width_of_query()));
  stream << "heed::" << spec_ << "(" << inside() << "; " << joined(widths) << ", context " << width() << ")";
}

std::shared_ptr<Structure> structure(const std::string& spec, const StructureOptions& options) {
  const PartSpec parsed = parse_part(spec, Structure::kKind);
  auto made = Structure::Parts::make(parsed, options);
  made->spec_ = parsed.to_string();
  const auto inputs = made->takes().features.size();
  check(options.features.size() == 1 || options.features.size() == inputs, made->spec_, ": ", options.features.size(),
        " widths of features for ", inputs, " inputs; expected one for each, or one for all");
  check(options.query_dim == 0 || made->takes().query, made->spec_, ": got query_dim ", options.query_dim,
        ", expected 0: it takes no query");
  return made;
}

Tensor beside(const std::vector<Tensor>& parts) {
  return at::cat(parts, -1);
}

}  // namespace heed
