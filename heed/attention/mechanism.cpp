#include "heed/attention/mechanism.h"

#include <cmath>
#include <functional>
#include <map>
#include <mutex>

#include <ATen/ATen.h>

#include "heed/attention/align.h"
#include "heed/attention/score.h"

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

struct Mechanism::Made {
  explicit Made(MechanismSpec spec);
  MechanismSpec parts;
  std::shared_ptr<const Score> score;
  std::shared_ptr<const Alignment> align;
  Dimensionality dimensionality;
  std::string score_name, align_name;
};

Mechanism::Mechanism() : Mechanism(parse("scaled_dot + softmax")) {}

Mechanism::Made::Made(MechanismSpec spec)
    : parts(std::move(spec)),
      score(Catalogue<Score>::make(parts.score)),
      align(Catalogue<Alignment>::make(parts.align)),
      dimensionality(dimensionality_of(parts.dimensionality)),
      score_name("score/" + parts.score.name),
      align_name("alignment/" + parts.align.name) {
  const std::string reason = score->refuse(dimensionality);
  check(reason.empty(), "mechanism: ", parts.score.to_string(), " has no form for ", heed::to_string(dimensionality),
        ": ", reason);
}

Mechanism Mechanism::parse(std::string_view spec) {
  constexpr size_t kMaxKnown = 8192;  // more than a program has; the specs after them are parsed each time
  static std::mutex one_at_a_time;
  // Never destroyed: a part may come from a library that is unloaded before this one.
  static auto& known = *new std::map<std::string, std::shared_ptr<const Made>, std::less<>>;
  {
    const std::lock_guard lock(one_at_a_time);
    if (const auto found = known.find(spec); found != known.end()) return Mechanism(found->second);
  }
  auto made = std::make_shared<const Made>(parse_mechanism(spec));
  const std::lock_guard lock(one_at_a_time);
  if (known.size() < kMaxKnown) known.emplace(spec, made);
  return Mechanism(std::move(made));
}

const MechanismSpec& Mechanism::parts() const {
  return made_->parts;
}
const Score& Mechanism::score() const {
  return *made_->score;
}
const Alignment& Mechanism::align() const {
  return *made_->align;
}
Dimensionality Mechanism::dimensionality() const {
  return made_->dimensionality;
}
const std::string& Mechanism::score_name() const {
  return made_->score_name;
}
const std::string& Mechanism::align_name() const {
  return made_->align_name;
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
