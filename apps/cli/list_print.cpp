#include <algorithm>

#include "apps/cli/list.h"
#include "apps/cli/program_name.h"
#include "apps/cli/screen.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

constexpr int kMaxFormula = 44, kMinText = 20;  // columns

/// "512; 1 <= dim <= 65536; width of the features": default, allowed values, meaning.
std::string shown(const RecipeKey& key) {
  return joined(
      {key.default_value.empty() ? "\"\"" : key.default_value, key.range.empty() ? key.kind : key.range, key.sentence},
      "; ");
}

std::string shown(const CardParameter& parameter) {
  return parameter.name + (parameter.shape.empty() ? "" : " [" + joined(parameter.shape) + "]") +
         (parameter.with.empty() ? "" : " with " + parameter.with);
}

std::string shown(const Options::Known& option) {
  const bool plain = option.kind == "number" || option.kind == "text";
  return option.name + " = " + (option.default_value.empty() ? "\"\"" : option.default_value) +
         (plain ? "" : " (" + option.kind + ")");
}

template <typename Item>
std::string all_shown(const std::vector<Item>& items) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(shown(item));
  return joined(texts);
}

std::vector<Card> of_family(const std::vector<Card>& all, const CardFamily& family) {
  std::vector<Card> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), [&](const Card& card) { return family.has(card); });
  return some;
}

int widest(const std::vector<Card>& cards, std::string Card::*text) {
  int width = 0;
  for (const auto& card : cards) width = std::max(width, display_width(card.*text));
  return width;
}

/// When to choose a part; for a preset, its mechanism and its paper.
std::string advice(const Card& card) {
  return card.kind == "preset" ? card.inside + "; " + card.paper : card.choose;
}

void print_family_table(std::ostream& out, const std::vector<Card>& cards, int columns) {
  const int name = widest(cards, &Card::name) + 2;
  int formula = std::min(widest(cards, &Card::formula), kMaxFormula) + 2;
  const int left = columns - 5 - name;  // for formula and advice
  if (columns > 0 && left - formula < kMinText) formula = std::max(0, left - kMinText);
  if (columns > 0 && formula < kMinText) formula = 0;  // too narrow to be readable
  for (const auto& card : cards) {
    const std::string order = card.order > 0 ? std::to_string(card.order) : "";
    std::string line = padded_left(order, 4) + ' ' + padded(card.name, name);
    if (formula > 0) line += padded(shortened(card.formula, formula - 2), formula);
    line += columns > 0 ? shortened(advice(card), std::max(1, left - formula)) : advice(card);
    out << line << '\n';
  }
}

}  // namespace

const char* const kCardSizes =
    "Sizes: Lq queries, Lk keys; Dq, Dk, Dv the widths of query, keys and values, D where Dq = Dk; Dh hidden width; W "
    "scores for each pair. Att(q, F): a mechanism with query q over features F.";

const std::vector<CardFamily>& card_families() {
  static const std::vector<CardFamily> all{
      {"score", "scores", "Scores", "e = score(q, k): how well a key k matches a query q."},
      {"alignment", "alignments", "Alignments",
       "a = align(e): weights a from scores e; the context is the sum of a_j v_j."},
      {"dimensionality", "dimensionalities", "Dimensionalities", "How many scores W a pair of query and key gets."},
      {"structure", "structures", "Structures: features", "How many inputs there are, and which attends to which.",
       "features"},
      {"structure", "structures", "Structures: levels", "Words in sentences in documents.", "levels"},
      {"structure", "structures", "Structures: representations", "Several embeddings of the same input.",
       "representations"},
      {"structure", "structures", "Structures: query", "Where the query comes from.", "query"},
      {"structure", "structures", "Structures: queries", "How many queries, in parallel or one after the other.",
       "queries"},
      {"structure", "structures", "Structures: beyond the survey", "Blocks of whole models.", "beyond"},
      {"preset", "presets", "Presets", "The choice of a paper on every axis of the taxonomy."},
      {"position", "positions", "Positions", "How features encode their positions."},
      {"feature model", "feature models", "Feature models", "model.features of a recipe: features from the input."},
      {"query model", "query models", "Query models", "model.query of a recipe: where queries come from."},
      {"attention model", "attention models", "Attention models",
       "model.attention of a recipe: a mechanism such as 'additive + softmax', or one of these."},
      {"output model", "output models", "Output models", "model.output of a recipe: answers from contexts."},
      {"text query model", "text query models", "Query models of classifiers",
       "model.query of a recipe with task: classify: where the query of a text comes from."},
      {"label output model", "label output models", "Output models of classifiers",
       "model.output of a recipe with task: classify: labels from contexts."},
      {"tokenizer", "tokenizers", "Tokenizers", "data.tokenizer of a recipe."},
      {"optimizer", "optimizers", "Optimizers", "train.optimizer of a recipe."},
      {"schedule", "schedules", "Schedules", "train.schedule of a recipe: a factor on train.lr for each step."},
      {"explanation test", "tests", "Tests of explanations",
       "heed explain: whether the weights of a run can be read as an explanation."},
      {"attribution", "attributions", "Attributions",
       "How much each token counts for an output: what attention is compared with by heed explain."},
      {"section", "keys", "Recipe keys", "The maps of a recipe: default, allowed values and meaning of each key."}};
  return all;
}

void sort_cards(std::vector<Card>& cards) {
  const auto rank = [](const Card& card) {
    const auto& families = card_families();
    const auto found = std::find_if(families.begin(), families.end(), [&](const auto& f) { return f.has(card); });
    return found - families.begin();
  };
  std::stable_sort(cards.begin(), cards.end(), [&](const Card& a, const Card& b) {
    const auto order = [](const Card& card) { return card.order > 0 ? card.order : 1'000'000; };
    return std::tuple(rank(a), order(a), a.name) < std::tuple(rank(b), order(b), b.name);
  });
}

std::vector<std::pair<std::string, std::string>> card_lines(const Card& card) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const std::string& label, const std::string& text) {
    if (!text.empty()) lines.emplace_back(label, text);
  };
  add("task", card.task);
  add("choose for", card.choose);
  add("also called", joined(card.synonyms));
  add("inputs", joined(card.takes));
  add("inside", card.inside);
  add("modules", joined(card.modules));
  add("parameters", all_shown(card.parameters));
  add("options", all_shown(card.options));
  add("forms", joined(card.dimensionalities));
  for (const auto& [axis, choice] : card.axes) add(axis, choice);
  add("cost", card.cost);
  add("paper", card.paper);
  for (const auto& key : card.keys) add(key.name, shown(key));
  return lines;
}

void print_card_table(std::ostream& out, const std::vector<Card>& all, int columns) {
  for (const auto& family : card_families()) {
    const auto cards = of_family(all, family);
    if (cards.empty()) continue;
    const std::string heading = family.title + ": " + family.idea;
    out << (columns > 0 ? shortened(heading, columns) : heading) << '\n';
    print_family_table(out, cards, columns);
    out << '\n';
  }
  out << "The number is the order of choice: try 1 first; the text says when to choose a part.\n"
         "A mechanism is 'score + alignment' or 'score + alignment, dimensionality': 'additive + sparsemax, multi'.\n"
         "More: "
      << program_name()
      << " list NAME, the card of a part (names used in papers work too); list KIND, the table of one kind\n"
         "(scores, alignments, structures, ...); list --cards, --json, --markdown, everything.\n";
}

void print_cards(std::ostream& out, const std::vector<Card>& all) {
  const int indent = widest(all, &Card::name) + 4;
  for (const auto& family : card_families()) {
    const auto some = of_family(all, family);
    if (some.empty()) continue;
    out << family.title << ": " << family.idea << "\n\n";
    for (const auto& card : some) {
      out << "  " << padded(card.name, indent - 2) << card.formula << '\n';
      int label_width = 0;
      for (const auto& [label, text] : card_lines(card)) label_width = std::max(label_width, display_width(label));
      for (const auto& [label, text] : card_lines(card))
        out << std::string(static_cast<size_t>(indent), ' ') << padded(label, label_width + 2) << text << '\n';
      out << '\n';
    }
  }
  out << kCardSizes << '\n';
}

}  // namespace heed::cli
