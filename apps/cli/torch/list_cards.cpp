#include "apps/cli/torch/list_cards.h"

#include <algorithm>
#include <array>
#include <memory>

#include "apps/cli/list.h"
#include "apps/cli/screen.h"

#include "heed/attention/align.h"
#include "heed/attention/mechanism.h"
#include "heed/attention/score.h"
#include "heed/data/tokenizer.h"
#include "heed/explain/attribution.h"
#include "heed/explain/test.h"
#include "heed/models/classify/label_output.h"
#include "heed/models/classify/pool_query.h"
#include "heed/models/components.h"
#include "heed/structures/preset.h"
#include "heed/train/optimizer.h"
#include "heed/train/schedule.h"

namespace heed::cli {
namespace {

constexpr int64_t kBase = 1000;
constexpr Sizes kWide{kBase, kBase* kBase, kBase* kBase* kBase, kBase* kBase* kBase* kBase};
constexpr std::array kSymbols{"Dq", "Dk", "Dv", "Dh"};
constexpr int64_t kSmall = 8;  // width of the structures that are constructed for their cards

/// Decodes a size in base 1000: 3'000'001'000 -> "Dq + 3 Dv".
std::string symbols(int64_t size) {
  std::vector<std::string> terms;
  if (size % kBase != 0) terms.push_back(std::to_string(size % kBase));
  for (const auto* symbol : kSymbols) {
    size /= kBase;
    if (const int64_t times = size % kBase) terms.push_back((times == 1 ? "" : std::to_string(times) + " ") + symbol);
  }
  return terms.empty() ? "0" : joined(terms, " + ");
}

/// Parameters at widths kWide; at Dq = Dk for scores that require it.
template <typename Part>
std::vector<ParameterSpec> declared(const Part& part) {
  try {
    return part.parameters(kWide);
  } catch (const Error&) {
    Sizes equal = kWide;
    equal.query_dim = equal.key_dim;
    return part.parameters(equal);
  }
}

CardParameter as_parameter(const ParameterSpec& spec, const std::string& with = "") {
  CardParameter parameter{spec.name, {}, with};
  for (const int64_t size : spec.shape) parameter.shape.push_back(symbols(size));
  return parameter;
}

/// The part with one numeric option increased by 1, or null if it refuses that value.
template <typename Part>
std::shared_ptr<const Part> raised(const std::string& name, const Options::Known& option) {
  const double value = std::stod(option.default_value) + 1;
  try {
    return Catalogue<Part>::make(PartSpec{name, Options(name, {{option.name, fixed(value, 3)}})});
  } catch (const Error&) {
    return nullptr;
  }
}

bool has_parameter(const std::vector<CardParameter>& all, const std::string& name) {
  return std::any_of(all.begin(), all.end(), [&](const CardParameter& one) { return one.name == name; });
}

/// Parameters of the part with default options, then parameters that only its variants have.
template <typename Part>
std::vector<CardParameter> parameters(const std::string& name, const std::vector<Options::Known>& options) {
  const auto specs = declared(*Catalogue<Part>::make(name));
  std::vector<CardParameter> all;
  for (const auto& spec : specs) all.push_back(as_parameter(spec));
  for (const auto& option : options) {
    const auto other = option.kind == "number" ? raised<Part>(name, option) : nullptr;
    const auto changed = other ? declared(*other) : specs;
    for (size_t i = 0; i < std::min(specs.size(), changed.size()); ++i)
      for (size_t axis = 0; axis < specs[i].shape.size(); ++axis)
        if (specs[i].shape[axis] != changed[i].shape[axis]) all[i].shape[axis] = option.name;
  }
  for (const auto& variant : Catalogue<Part>::describe(name).variants)
    for (const auto& spec : declared(*Catalogue<Part>::make(variant)))
      if (!has_parameter(all, spec.name)) all.push_back(as_parameter(spec, variant));
  return all;
}

std::vector<std::string> dimensionalities(const Score& score) {
  std::vector<std::string> all;
  for (const auto d :
       {Dimensionality::single, Dimensionality::multi, Dimensionality::elementwise, Dimensionality::lift})
    if (score.refuse(d).empty()) all.push_back(to_string(d));
  return all;
}

Card card_of(const std::string& kind, const std::string& name, const Description& says) {
  Card card{kind, name};
  card.axis = says.axis;
  card.order = says.order;
  card.synonyms = says.synonyms;
  card.formula = says.formula;
  card.choose = says.choose;
  card.cost = says.cost;
  card.paper = says.paper == "-" ? "" : says.paper;
  return card;
}

/// The parts of a catalogue, with their options.
template <typename Parts, typename... With>
std::vector<Card> cards_of(const std::string& kind, const With&... with) {
  std::vector<Card> all;
  for (const auto& name : Parts::names()) {
    all.push_back(card_of(kind, name, Parts::describe(name)));
    all.back().options = Parts::options(name, with...);
  }
  return all;
}

std::vector<Card> scores() {
  auto all = cards_of<Catalogue<Score>>(Score::kKind);
  for (auto& card : all) {
    card.parameters = parameters<Score>(card.name, card.options);
    card.dimensionalities = dimensionalities(*Catalogue<Score>::make(card.name));
  }
  return all;
}

std::vector<Card> alignments() {
  auto all = cards_of<Catalogue<Alignment>>(Alignment::kKind);
  for (auto& card : all) card.parameters = parameters<Alignment>(card.name, card.options);
  return all;
}

std::vector<Card> dimensionality_cards() {
  std::vector<Card> all;
  const auto add = [&](Dimensionality d, const Description& says) {
    all.push_back(card_of("dimensionality", to_string(d), says));
    all.back().order = static_cast<int>(all.size());
  };
  add(Dimensionality::single, {.formula = "W = 1: one weight for each pair of query and key",
                               .paper = "Bahdanau et al., 2015",
                               .cost = "that of the score",
                               .choose = "the default",
                               .synonyms = {"single_dimensional"}});
  add(Dimensionality::multi, {.formula = "W = Dv: e = W_d act(...), a row of W_d for each channel of the values",
                              .paper = "Shen et al., 2018 (source2token)",
                              .cost = "Lq Lk Dh Dv",
                              .choose = "channels of a value matter for different queries",
                              .synonyms = {"multi_dimensional", "feature_wise", "channel_wise"}});
  add(Dimensionality::elementwise, {.formula = "W = Dv: e = 5 act(... / 5), the hidden layer is the score",
                                    .paper = "Shen et al., 2018 (token2token)",
                                    .cost = "Lq Lk Dv",
                                    .choose = "as multi, without W_d",
                                    .synonyms = {"token2token"}});
  add(Dimensionality::lift,
      {.formula = "W = Dv: the score once for each channel, on a group of features or with a W of its own",
       .paper = "our extension",
       .cost = "Lq Lk D in groups, Dv times the score with a W for each",
       .choose = "multi for scores without a hidden layer"});
  return all;
}

/// Position encodings: attention/positions.h, and model.features.positions of a recipe.
std::vector<Card> positions() {
  std::vector<Card> all;
  const auto add = [&](const std::string& name, const Description& says) {
    all.push_back(card_of("position", name, says));
    all.back().order = static_cast<int>(all.size());
  };
  add("sinusoidal", {.formula = "x_p + PE(p), PE(p, 2i) = sin(p r_i), PE(p, 2i + 1) = cos(p r_i)",
                     .paper = "Vaswani et al., 2017",
                     .cost = "L D",
                     .choose = "the default",
                     .synonyms = {"absolute", "trigonometric"}});
  add("rotary", {.formula = "pairs of features of q and k rotated by p r_i",
                 .paper = "Su et al., 2021",
                 .cost = "(Lq + Lk) D",
                 .choose = "distances matter more than positions; inside every layer",
                 .synonyms = {"rope"}});
  add("alibi", {.formula = "e_ij - m_h |i - j|",
                .paper = "Press et al., 2022",
                .cost = "none besides the score",
                .choose = "texts longer than those of training",
                .synonyms = {"linear_bias"}});
  add("learned", {.formula = "x_p + T_p, T a table",
                  .paper = "Gehring et al., 2017",
                  .cost = "L D",
                  .choose = "a known maximum length; in C++ (LearnedPositions), not in a recipe",
                  .synonyms = {"learned_absolute"}});
  return all;
}

std::vector<std::string> module_names(const Structure& made) {
  std::vector<std::string> names;
  for (const auto& child : made.named_children()) names.push_back(child.key());
  return names;
}

/// Modules and parameters that only variants of the structure have.
void add_variants(Card& card, const std::vector<std::string>& variants, const StructureOptions& sizes) {
  const auto own = card.modules;
  std::vector<std::string> known = own;
  for (const auto& variant : variants) {
    const auto made = structure(variant, sizes);
    for (const auto& name : module_names(*made)) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      known.push_back(name);
      card.modules.push_back(name + " with " + variant);
    }
    for (const auto& item : made->named_parameters(/*recurse=*/false))
      if (!has_parameter(card.parameters, item.key())) card.parameters.push_back({item.key(), {}, variant});
  }
}

std::vector<Card> structures() {
  const StructureOptions sizes{.features = {kSmall}};
  auto all = cards_of<Structure::Parts>(Structure::kKind, sizes);
  for (auto& card : all) {
    const auto made = structure(card.name, sizes);
    card.inside = made->inside();
    card.takes = made->takes().features;
    if (made->takes().query) card.takes.emplace_back("query");
    if (made->takes().edges) card.takes.emplace_back("edges");
    card.modules = module_names(*made);
    for (const auto& item : made->named_parameters(/*recurse=*/false)) card.parameters.push_back({item.key(), {}, ""});
    add_variants(card, Structure::Parts::describe(card.name).variants, sizes);
  }
  return all;
}

std::vector<Card> presets() {
  std::vector<Card> all;
  for (const auto& name : preset_names()) {
    const Preset& says = find_preset(name);
    Card card{"preset", name};
    card.formula = says.structure;
    card.inside = joined(says.mechanisms, "; ");
    card.paper = says.paper;
    const Axes& axes = says.axes;
    card.axes = {{"features", axes.features}, {"levels", axes.levels},       {"representations", axes.representations},
                 {"score", axes.score},       {"alignment", axes.alignment}, {"dimensionality", axes.dimensionality},
                 {"query", axes.query},       {"queries", axes.queries}};
    all.push_back(card);
  }
  return all;
}

/// The components of a task model, with the recipe keys that they declare.
template <typename Component>
std::vector<Card> components(const std::string& path, const std::string& task = "") {
  std::vector<Card> all;
  for (const auto& name : Component::Parts::names()) {
    all.push_back(card_of(Component::kKind, name, Component::Parts::describe(name)));
    all.back().path = path;
    all.back().task = task;
    all.back().keys = ComponentKeys<Component>::table().at(name)();
  }
  return all;
}

/// The maps of a recipe, with the keys that belong to no component.
std::vector<Card> sections() {
  std::vector<Card> all;
  for (const auto& section : RecipeSection::all()) {
    Card card{"section", section.path.empty() ? "recipe" : section.path};
    card.order = static_cast<int>(all.size()) + 1;
    card.choose = section.path.empty() ? "The recipe itself." : section.sentence;
    card.formula = (section.path.empty() ? "" : section.path + ".") + section.keys.front().name + ": " +
                   section.keys.front().default_value;
    card.path = section.path;
    card.task = section.task;
    card.keys = section.keys;
    all.push_back(card);
  }
  return all;
}

}  // namespace

std::vector<Card> collect_cards() {
  std::vector<Card> all;
  for (const auto& family :
       {scores(), alignments(), dimensionality_cards(), structures(), presets(), positions(),
        components<FeatureModel>("model.features"), components<QueryModel>("model.query", "translate"),
        components<AttentionModel>("model.attention", "translate"),
        components<OutputModel>("model.output", "translate"), components<PoolQuery>("model.query", "classify"),
        components<LabelOutput>("model.output", "classify"),
        cards_of<Catalogue<TokenizerTrainer>>(TokenizerTrainer::kKind),
        cards_of<Catalogue<Optimizer>>(Optimizer::kKind), cards_of<Schedule::Parts>(Schedule::kKind, ScheduleOptions{}),
        cards_of<ExplanationTest::Parts>(ExplanationTest::kKind), cards_of<Attribution::Parts>(Attribution::kKind),
        sections()})
    all.insert(all.end(), family.begin(), family.end());
  sort_cards(all);
  return all;
}

}  // namespace heed::cli
