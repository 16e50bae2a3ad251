#include "heed/attention/mechanism.h"

#include <cmath>

namespace heed {
namespace {

Dimensionality dimensionality_of(const PartSpec& spec) {
  check(spec.name == "single" || spec.name == "multi", "dimensionality: no part called '", spec.name, "'",
        suggestion(spec.name, {"single", "multi"}), "; known: single, multi, multi(elementwise), multi(lift)");
  const Options options = spec.options.unread();
  Dimensionality found = Dimensionality::single;
  if (spec.name == "multi") {
    const auto form = options.choice("form", {"hidden", "elementwise", "lift"});
    found = form == "hidden"        ? Dimensionality::multi
            : form == "elementwise" ? Dimensionality::elementwise
                                    : Dimensionality::lift;
  }
  options.refuse_unread();
  return found;
}

}  // namespace

Mechanism::Mechanism() : Mechanism(parse_mechanism("scaled_dot + softmax")) {}

Mechanism::Mechanism(MechanismSpec parts)
    : parts_(std::move(parts)),
      score_(Catalogue<Score>::make(parts_.score)),
      align_(Catalogue<Alignment>::make(parts_.align)),
      dimensionality_(dimensionality_of(parts_.dimensionality)) {
  const std::string reason = score_->refuse(dimensionality_);
  check(reason.empty(), "mechanism: ", parts_.score.to_string(), " has no form for ", heed::to_string(dimensionality_),
        ": ", reason);
}

Mechanism Mechanism::parse(std::string_view spec) {
  return Mechanism(parse_mechanism(spec));
}

std::string Mechanism::to_string() const {
  const bool single = dimensionality_ == Dimensionality::single;
  return parts_.score.to_string() + " + " + parts_.align.to_string() +
         (single ? "" : ", " + heed::to_string(dimensionality_));
}

std::string Mechanism::formula() const {
  return "e = " + Catalogue<Score>::describe(parts_.score.name).formula +
         ";  a_j = " + Catalogue<Alignment>::describe(parts_.align.name).formula;
}

std::vector<ParameterSpec> Mechanism::parameters(Sizes sizes) const {
  sizes.dimensionality = dimensionality_;
  std::vector<ParameterSpec> all;
  for (auto spec : score_->parameters(sizes)) {
    spec.name = "score." + spec.name;
    all.push_back(spec);
  }
  for (auto spec : align_->parameters(sizes)) {
    spec.name = "align." + spec.name;
    all.push_back(spec);
  }
  return all;
}

Tensor initialized(const ParameterSpec& spec, int64_t heads) {
  auto shape = spec.shape;
  if (heads > 0) shape.insert(shape.begin(), heads);
  if (spec.initial.kind == Initial::constant) return at::full(shape, spec.initial.value);
  const auto& own = spec.shape;
  const auto out = own.size() > 1 ? own[own.size() - 2] : 1;
  const double bound = std::sqrt(6.0 / static_cast<double>(std::max<int64_t>(1, own.back() + out)));
  return at::rand(shape) * (2 * bound) - bound;
}

Parameters initialized(const std::vector<ParameterSpec>& specs) {
  Parameters all;
  for (const auto& spec : specs) all.set(spec.name, initialized(spec));
  return all;
}

}  // namespace heed
