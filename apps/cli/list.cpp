#include "apps/cli/list.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <optional>

#include "apps/cli/command.h"
#include "apps/cli/screen.h"
#include <nlohmann/json.hpp>

#include "heed/attention/mechanism.h"
#include "heed/structures/preset.h"

namespace heed::cli {
namespace {

constexpr int64_t kBase = 1000;
constexpr Sizes kWide{kBase, kBase* kBase, kBase* kBase* kBase, kBase* kBase* kBase* kBase};
constexpr std::array kSymbols{"Dq", "Dk", "Dv", "Dh"};

/// 1'003'000'000 -> "Dq + 3 Dk".
std::string symbols(int64_t size) {
  std::vector<std::string> terms;
  if (size % kBase != 0) terms.push_back(std::to_string(size % kBase));
  for (const auto* symbol : kSymbols) {
    size /= kBase;
    if (const int64_t times = size % kBase) terms.push_back((times == 1 ? "" : std::to_string(times) + " ") + symbol);
  }
  return terms.empty() ? "0" : joined(terms, " + ");
}

/// Some scores need queries as wide as keys: their parameters are then those of Dq = Dk.
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

/// The part with one number of its options raised by 1, or null where it refuses that.
template <typename Part>
std::shared_ptr<const Part> with_changed_option(const std::string& name, const Options::Known& option) {
  const double value = std::stod(option.default_value) + 1;
  try {
    return Catalogue<Part>::make(PartSpec{name, Options(name, {{option.name, fixed(value, 3)}})});
  } catch (const Error&) {
    return nullptr;
  }
}

template <typename Part>
std::vector<CardParameter> parameters(const std::string& name, const Part& part,
                                      const std::vector<Options::Known>& options) {
  const auto specs = declared(part);
  std::vector<CardParameter> all;
  for (const auto& spec : specs) {
    all.push_back({spec.name, {}});
    for (const int64_t size : spec.shape) all.back().shape.push_back(symbols(size));
  }
  for (const auto& option : options) {
    const auto other = option.kind == "number" ? with_changed_option<Part>(name, option) : nullptr;
    const auto changed = other ? declared(*other) : specs;
    for (size_t i = 0; i < std::min(specs.size(), changed.size()); ++i)
      for (size_t axis = 0; axis < specs[i].shape.size(); ++axis)
        if (specs[i].shape[axis] != changed[i].shape[axis]) all[i].shape[axis] = option.name;
  }
  return all;
}

std::vector<std::string> dimensionalities(const Score& score) {
  std::vector<std::string> all;
  for (const auto d :
       {Dimensionality::single, Dimensionality::multi, Dimensionality::elementwise, Dimensionality::lift})
    if (score.refuse(d).empty()) all.push_back(to_string(d));
  return all;
}
std::vector<std::string> dimensionalities(const Alignment&) {
  return {};
}

template <typename Part>
void add_catalogue(std::vector<Card>& all) {
  for (const auto& name : Catalogue<Part>::names()) {
    const auto part = Catalogue<Part>::make(name);
    const Description& says = Catalogue<Part>::describe(name);
    const auto options = Catalogue<Part>::options(name);
    all.push_back({Part::kKind, name, says.formula, says.choose, says.cost, says.paper,
                   parameters(name, *part, options), options, dimensionalities(*part)});
  }
}

void add_dimensionalities(std::vector<Card>& all) {
  const auto add = [&](Dimensionality d, const char* formula, const char* choose, const char* cost, const char* paper) {
    all.push_back({"dimensionality", to_string(d), formula, choose, cost, paper, {}, {}, {}});
  };
  add(Dimensionality::single, "W = 1: one weight for each pair of query and key", "the default", "that of the score",
      "Bahdanau et al., 2015");
  add(Dimensionality::multi, "W = Dv: e = W_d act(...), a row of W_d for each channel of the values",
      "channels of a value matter for different queries", "Lq Lk Dh Dv", "Shen et al., 2018 (source2token)");
  add(Dimensionality::elementwise, "W = Dv: e = 5 act(... / 5), the hidden layer is the score", "as multi, without W_d",
      "Lq Lk Dv", "Shen et al., 2018 (token2token)");
  add(Dimensionality::lift, "W = Dv: the score once for each channel, on a group of features or with a W of its own",
      "multi for scores without a hidden layer", "Lq Lk D in groups, Dv times the score with a W for each",
      "our extension");
}

void add_structures(std::vector<Card>& all) {
  const StructureOptions sizes{.features = {8}};
  for (const auto& name : Structure::Parts::names()) {
    const Description& says = Structure::Parts::describe(name);
    const auto made = structure(name, sizes);
    Card card{"structure", name, says.formula, says.choose, says.cost, says.paper, {}, {}, {}};
    card.options = Structure::Parts::options(name, sizes);
    card.axis = says.axis;
    card.inside = made->inside();
    card.takes = made->takes().features;
    if (made->takes().query) card.takes.push_back("query");
    if (made->takes().edges) card.takes.push_back("edges");
    for (const auto& child : made->named_children()) card.modules.push_back(child.key());
    for (const auto& item : made->named_parameters(/*recurse=*/false)) card.parameters.push_back({item.key(), {}});
    all.push_back(card);
  }
}

std::string shown(const CardParameter& parameter) {
  return parameter.shape.empty() ? parameter.name : parameter.name + " [" + joined(parameter.shape) + "]";
}

std::string shown(const Options::Known& option) {
  return option.name + " = " + option.default_value + (option.kind == "number" ? "" : " (" + option.kind + ")");
}

template <typename Item>
std::vector<std::string> all_shown(const std::vector<Item>& items) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(shown(item));
  return texts;
}

struct Family {
  std::string kind, title, idea;
  std::string axis{};
  bool has(const Card& card) const { return card.kind == kind && card.axis == axis; }
};
const std::array kFamilies{
    Family{"score", "Scores", "e = score(q, k): how well a query q and a key k belong together."},
    Family{"alignment", "Alignments", "a = align(e): weights a from scores e; the context is the sum of a_j v_j."},
    Family{"dimensionality", "Dimensionalities", "How many scores W a pair of query and key gets."},
    Family{"structure", "Structures: features", "How many inputs there are, and how they look at each other.",
           "features"},
    Family{"structure", "Structures: levels", "Words in sentences in documents.", "levels"},
    Family{"structure", "Structures: representations", "Several embeddings of the same thing.", "representations"},
    Family{"structure", "Structures: query", "Where the query comes from.", "query"},
    Family{"structure", "Structures: queries", "How many queries, side by side or one after the other.", "queries"},
    Family{"structure", "Structures: beyond the survey", "What whole models are made of.", "beyond"}};
constexpr auto kSizes =
    "Sizes: Lq queries, Lk keys; Dq, Dk, Dv the widths of query, keys and values, D where Dq = Dk; Dh hidden width; W "
    "scores for each pair. Att(q, F): a mechanism with query q over features F.";

std::vector<Card> of_family(const std::vector<Card>& all, const Family& family) {
  std::vector<Card> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), [&](const Card& card) { return family.has(card); });
  return some;
}

/// What stands below the formula: a label and a text each; those without a text are left out.
std::vector<std::pair<std::string, std::string>> lines_of(const Card& card) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) lines.emplace_back(label, text);
  };
  add("choose for", card.choose);
  add("inputs", joined(card.takes));
  add("inside", card.inside);
  add("modules", joined(card.modules));
  add("parameters", joined(all_shown(card.parameters)));
  add("options", joined(all_shown(card.options)));
  add("forms", joined(card.dimensionalities));
  add("cost", card.cost);
  add("paper", card.paper);
  return lines;
}

void print_card(std::ostream& out, const Card& card, int indent) {
  out << "  " << padded(card.name, indent - 2) << card.formula << '\n';
  for (const auto& [label, text] : lines_of(card))
    out << std::string(static_cast<size_t>(indent), ' ') << padded(label, 12) << text << '\n';
}

void print_text(std::ostream& out, const std::vector<Card>& all) {
  int indent = 0;
  for (const auto& card : all) indent = std::max(indent, display_width(card.name) + 4);
  for (const auto& family : kFamilies) {
    const auto some = of_family(all, family);
    if (some.empty()) continue;
    out << family.title << ": " << family.idea << "\n\n";
    for (const auto& card : some) {
      print_card(out, card, indent);
      out << '\n';
    }
  }
  out << kSizes << '\n';
  if (all.size() > 1)
    out << "A mechanism is 'score + alignment' or 'score + alignment, dimensionality': try heed demo --mechanism "
           "'additive + sparsemax'\n";
}

nlohmann::ordered_json as_json(const Card& card) {
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array(), options = nlohmann::ordered_json::array();
  for (const auto& p : card.parameters) {
    parameters.push_back({{"name", p.name}});
    if (card.kind != "structure") parameters.back()["shape"] = p.shape;
  }
  for (const auto& o : card.options)
    options.push_back({{"name", o.name}, {"default", o.default_value}, {"kind", o.kind}});
  nlohmann::ordered_json all{{"kind", card.kind},     {"name", card.name},        {"formula", card.formula},
                             {"choose", card.choose}, {"parameters", parameters}, {"options", options},
                             {"cost", card.cost},     {"paper", card.paper}};
  if (card.kind == "score") all["dimensionalities"] = card.dimensionalities;
  if (card.kind == "structure") {
    all["axis"] = card.axis;
    all["inputs"] = card.takes;
    all["inside"] = card.inside;
    all["modules"] = card.modules;
  }
  return all;
}

void print_json(std::ostream& out, const std::vector<Card>& all) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& card : all) list.push_back(as_json(card));
  out << list.dump(2) << '\n';
}

/// Markdown takes | for the end of a cell even inside `code`.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char letter : text) safe += letter == '|' ? std::string("\\|") : std::string(1, letter);
  return safe;
}

void print_markdown(std::ostream& out, const std::vector<Card>& all) {
  out << "# Catalogue\n\nWritten by `heed list --markdown > docs/catalogue.md`. A mechanism is `score + alignment` or "
         "`score + alignment, "
         "dimensionality`,\nfor example `additive + entmax(1.5), multi`. Options go in brackets: `local_p(3, renorm)` "
         "or `local_p(window=3, "
         "form=renorm)`.\n\n"
      << kSizes << '\n';
  for (const auto& family : kFamilies) {
    out << "\n## " << family.title << "\n\n" << family.idea << '\n';
    for (const auto& card : of_family(all, family)) {
      out << "\n### " << card.name << "\n\n`" << card.formula << "`\n\n| | |\n|---|---|\n";
      for (const auto& [label, text] : lines_of(card)) out << "| " << label << " | " << cell(text) << " |\n";
    }
  }
}

/// A choice on each axis, with its label.
std::vector<std::pair<std::string, std::string>> choices(const Axes& axes) {
  return {{"features", axes.features}, {"levels", axes.levels},       {"representations", axes.representations},
          {"score", axes.score},       {"alignment", axes.alignment}, {"dimensionality", axes.dimensionality},
          {"query", axes.query},       {"queries", axes.queries}};
}

void print_presets_markdown(std::ostream& out, const std::vector<std::string>& names) {
  out << "\n## Presets\n\nWhat a paper chose on every axis: `heed::preset(\"bahdanau_2015\", {.features = "
         "{512}})`.\n\n| preset "
         "| structure | inside |";
  const auto labels = choices({});
  for (const auto& [label, none] : labels) out << ' ' << label << " |";
  out << "\n|---|---|---|";
  for (size_t i = 0; i < labels.size(); ++i) out << "---|";
  out << '\n';
  for (const auto& name : names) {
    const Preset& says = find_preset(name);
    out << "| " << name << " | `" << says.structure << "` | `" << cell(joined(says.mechanisms, "`, `")) << "` |";
    for (const auto& [label, choice] : choices(says.axes)) out << ' ' << choice << " |";
    out << '\n';
  }
}

void print_preset_card(std::ostream& out, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const Preset& says = find_preset(name);
    out << name << "  " << says.paper << '\n';
    const auto line = [&](const std::string& label, const std::string& text) {
      out << "    " << padded(label, 17) << text << '\n';
    };
    line("structure", says.structure);
    line("inside", joined(says.mechanisms, "; "));
    for (const auto& [label, choice] : choices(says.axes)) line(label, choice);
    out << '\n';
  }
}

void print_presets_json(std::ostream& out, const std::vector<std::string>& names) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& name : names) {
    const Preset& says = find_preset(name);
    nlohmann::ordered_json one{
        {"name", name}, {"paper", says.paper}, {"structure", says.structure}, {"mechanisms", says.mechanisms}};
    for (const auto& [label, choice] : choices(says.axes)) one["axes"][label] = choice;
    list.push_back(one);
  }
  out << list.dump(2) << '\n';
}

}  // namespace

std::vector<Card> cards() {
  std::vector<Card> all;
  add_catalogue<Score>(all);
  add_catalogue<Alignment>(all);
  add_dimensionalities(all);
  add_structures(all);
  return all;
}

void print_presets(std::ostream& out, const std::string& name, ListForm form) {
  if (!name.empty()) find_preset(name);
  const auto names = name.empty() ? preset_names() : std::vector<std::string>{name};
  switch (form) {
    case ListForm::text:
      return print_preset_card(out, names);
    case ListForm::json:
      return print_presets_json(out, names);
    case ListForm::markdown:
      return print_presets_markdown(out, names);
  }
}

std::vector<Card> cards(const std::string& name) {
  const std::string bare = name.substr(0, name.find('('));
  std::vector<Card> exact, similar;
  std::vector<std::string> known;
  for (const auto& card : cards()) {
    known.push_back(card.name);
    if (card.name == name) exact.push_back(card);
    if (card.name == bare) similar.push_back(card);
  }
  if (!exact.empty()) return exact;
  check(!similar.empty(), "list: no part called '", name, "'", suggestion(bare, known), "; known: ", joined(known));
  return similar;
}

void print_list(std::ostream& out, const std::vector<Card>& all, ListForm form) {
  switch (form) {
    case ListForm::text:
      return print_text(out, all);
    case ListForm::json:
      return print_json(out, all);
    case ListForm::markdown:
      print_markdown(out, all);
      return print_presets(out, "", form);
  }
}

namespace {

struct ListArguments {
  std::string part;
  bool json = false, markdown = false, presets = false;
};

void run_list(const ListArguments& a) {
  const auto form = a.json ? ListForm::json : a.markdown ? ListForm::markdown : ListForm::text;
  const auto presets = preset_names();
  if (a.presets || std::find(presets.begin(), presets.end(), a.part) != presets.end())
    return print_presets(std::cout, a.part, form);
  print_list(std::cout, a.part.empty() ? cards() : cards(a.part), form);
}

void add_list(CLI::App& app) {
  auto* list =
      app.add_subcommand("list", "Every score, alignment, dimensionality, structure and preset, and when to choose it");
  auto a = std::make_shared<ListArguments>();
  list->add_option("part", a->part, "Only this one: additive, entmax, rotatory, ...");
  auto* json = list->add_flag("--json", a->json, "For machines");
  list->add_flag("--markdown", a->markdown, "The page docs/catalogue.md")->excludes(json);
  list->add_flag("--presets", a->presets, "What papers chose on each axis of the taxonomy");
  list->callback([a] { run_list(*a); });
}

const Command list_command{80, add_list};

}  // namespace

}  // namespace heed::cli
