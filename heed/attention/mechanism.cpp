#include "heed/attention/mechanism.h"

#include <cmath>
#include <functional>
#include <map>
#include <mutex>

#include <ATen/ATen.h>

#include "heed/attention/mechanism_parts.h"

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

Mechanism::Mechanism() : Mechanism(parse("scaled_dot + softmax")) {}

MechanismParts::MechanismParts(MechanismSpec given)
    : spec(std::move(given)),
      score(Catalogue<Score>::make(spec.score)),
      align(Catalogue<Alignment>::make(spec.align)),
      dimensionality(dimensionality_of(spec.dimensionality)),
      score_name("score/" + spec.score.name),
      align_name("alignment/" + spec.align.name),
      offers(align->offers()),
      score_kernel(score->kernel(dimensionality)),
      align_kernel{align->kernel(dimensionality, false), align->kernel(dimensionality, true)} {
  const std::string reason = score->refuse(dimensionality);
  check(reason.empty(), "mechanism: ", spec.score.to_string(), " has no form for ", to_string(dimensionality), ": ",
        reason);
}

std::shared_ptr<const MechanismParts::Declared> MechanismParts::declared(const Sizes& sizes) const {
  auto known = last_.load();
  if (known && known->sizes == sizes) return known;
  known = std::make_shared<const Declared>(Declared{sizes, score->parameters(sizes), align->parameters(sizes)});
  last_.store(known);
  return known;
}

Mechanism Mechanism::parse(std::string_view spec) {
  constexpr size_t kMaxKnown = 8192;  // more than a program has; the specs after them are parsed each time
  static std::mutex one_at_a_time;
  // Never destroyed: a part may come from a library that is unloaded before this one.
  static auto& known = *new std::map<std::string, std::shared_ptr<const MechanismParts>, std::less<>>;
  {
    const std::lock_guard lock(one_at_a_time);
    if (const auto found = known.find(spec); found != known.end()) return Mechanism(found->second);
  }
  auto made = std::make_shared<const MechanismParts>(parse_mechanism(spec));
  const std::lock_guard lock(one_at_a_time);
  if (known.size() < kMaxKnown) known.emplace(spec, made);
  return Mechanism(std::move(made));
}

const MechanismSpec& Mechanism::parts() const {
  return parts_->spec;
}
const Score& Mechanism::score() const {
  return *parts_->score;
}
const Alignment& Mechanism::align() const {
  return *parts_->align;
}
Dimensionality Mechanism::dimensionality() const {
  return parts_->dimensionality;
}
const std::string& Mechanism::score_name() const {
  return parts_->score_name;
}
const std::string& Mechanism::align_name() const {
  return parts_->align_name;
}

std::string Mechanism::to_string() const {
  const bool single = dimensionality() == Dimensionality::single;
  return parts().score.to_string() + " + " + parts().align.to_string() +
         (single ? "" : ", " + heed::to_string(dimensionality()));
}

std::string Mechanism::formula() const {
  return "e = " + Catalogue<Score>::describe(parts().score.name).formula +
         ";  a_j = " + Catalogue<Alignment>::describe(parts().align.name).formula;
}

std::vector<ParameterSpec> Mechanism::parameters(Sizes sizes) const {
  sizes.dimensionality = dimensionality();
  std::vector<ParameterSpec> all;
  for (auto spec : score().parameters(sizes)) {
    spec.name = "score." + spec.name;
    all.push_back(spec);
  }
  for (auto spec : align().parameters(sizes)) {
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
