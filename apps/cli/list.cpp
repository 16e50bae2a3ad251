#include "apps/cli/list.h"

#include <algorithm>
#include <array>
#include <optional>

#include "apps/cli/screen.h"
#include <nlohmann/json.hpp>

#include "heed/attention/mechanism.h"

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
    equal.query = equal.keys;
    return part.parameters(equal);
  }
}

/// The part with one number of its options raised by 1, or null where it refuses that.
template <typename Part>
std::shared_ptr<const Part> raised(const std::string& name, const Options::Known& option) {
  const double value = std::stod(option.otherwise) + 1;
  try {
    return Catalogue<Part>::make(PartWords{name, Options(name, {{option.name, fixed(value, 3)}})});
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
    const auto other = option.kind == "number" ? raised<Part>(name, option) : nullptr;
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
    if (score.refuse(d).empty()) all.push_back(words(d));
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
    all.push_back({"dimensionality", words(d), formula, choose, cost, paper, {}, {}, {}});
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

std::string shown(const CardParameter& parameter) {
  return parameter.name + " [" + joined(parameter.shape) + "]";
}

std::string shown(const Options::Known& option) {
  return option.name + " = " + option.otherwise + (option.kind == "number" ? "" : " (" + option.kind + ")");
}

template <typename Item>
std::vector<std::string> all_shown(const std::vector<Item>& items) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(shown(item));
  return texts;
}

struct Family {
  std::string kind, title, idea;
};
const std::array kFamilies{
    Family{"score", "Scores", "e = score(q, k): how well a query q and a key k belong together."},
    Family{"alignment", "Alignments", "a = align(e): weights a from scores e; the context is the sum of a_j v_j."},
    Family{"dimensionality", "Dimensionalities", "How many scores W a pair of query and key gets."}};
constexpr auto kSizes =
    "Sizes: Lq queries, Lk keys; Dq, Dk, Dv the widths of query, keys and values, D where Dq = Dk; Dh hidden width; W "
    "scores for each pair.";

std::vector<Card> of_kind(const std::vector<Card>& all, const std::string& kind) {
  std::vector<Card> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), [&](const Card& card) { return card.kind == kind; });
  return some;
}

void print_card(std::ostream& out, const Card& card, int indent) {
  const auto line = [&](const char* label, const std::string& text) {
    if (!text.empty()) out << std::string(static_cast<size_t>(indent), ' ') << padded(label, 12) << text << '\n';
  };
  out << "  " << padded(card.name, indent - 2) << card.formula << '\n';
  line("choose for", card.choose);
  line("parameters", joined(all_shown(card.parameters)));
  line("options", joined(all_shown(card.options)));
  line("forms", joined(card.dimensionalities));
  line("cost", card.cost);
  line("paper", card.paper);
}

void print_words(std::ostream& out, const std::vector<Card>& all) {
  int indent = 0;
  for (const auto& card : all) indent = std::max(indent, display_width(card.name) + 4);
  for (const auto& family : kFamilies) {
    const auto some = of_kind(all, family.kind);
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
  for (const auto& p : card.parameters) parameters.push_back({{"name", p.name}, {"shape", p.shape}});
  for (const auto& o : card.options) options.push_back({{"name", o.name}, {"default", o.otherwise}, {"kind", o.kind}});
  nlohmann::ordered_json all{{"kind", card.kind},     {"name", card.name},        {"formula", card.formula},
                             {"choose", card.choose}, {"parameters", parameters}, {"options", options},
                             {"cost", card.cost},     {"paper", card.paper}};
  if (card.kind == "score") all["dimensionalities"] = card.dimensionalities;
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
    for (const auto& card : of_kind(all, family.kind)) {
      out << "\n### " << card.name << "\n\n`" << card.formula << "`\n\n| | |\n|---|---|\n";
      const auto row = [&](const char* label, const std::string& text) {
        if (!text.empty()) out << "| " << label << " | " << cell(text) << " |\n";
      };
      row("choose for", card.choose);
      row("parameters", joined(all_shown(card.parameters)));
      row("options", joined(all_shown(card.options)));
      row("forms", joined(card.dimensionalities));
      row("cost", card.cost);
      row("paper", card.paper);
    }
  }
}

}  // namespace

std::vector<Card> cards() {
  std::vector<Card> all;
  add_catalogue<Score>(all);
  add_catalogue<Alignment>(all);
  add_dimensionalities(all);
  return all;
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
    case ListForm::words:
      return print_words(out, all);
    case ListForm::json:
      return print_json(out, all);
    case ListForm::markdown:
      return print_markdown(out, all);
  }
}

}  // namespace heed::cli
