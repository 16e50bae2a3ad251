#include <algorithm>
#include <set>

#include "apps/cli/list.h"
#include "apps/cli/table.h"

namespace heed::cli {
namespace {

void print_preset_table(std::ostream& out, const std::vector<Card>& cards) {
  out << "\nIn C++: `heed::preset(\"bahdanau_2015\", {.features = {512}})`.\n\n| preset | structure | inside |";
  for (const auto& [axis, choice] : cards.front().axes) out << ' ' << axis << " |";
  out << "\n|---|---|---|";
  for (size_t i = 0; i < cards.front().axes.size(); ++i) out << "---|";
  out << '\n';
  for (const auto& card : cards) {
    out << "| " << card.name << " | `" << card.formula << "` | `" << with_escaped_bars(card.inside) << "` |";
    for (const auto& [axis, choice] : card.axes) out << ' ' << choice << " |";
    out << '\n';
  }
}

void print_choices(std::ostream& out, const std::vector<Card>& cards) {
  out << "\n| try | | choose for | also called |\n|---|---|---|---|\n";
  for (const auto& card : cards) {
    std::string synonyms;
    for (const auto& synonym : card.synonyms) synonyms += (synonyms.empty() ? "" : ", ") + synonym;
    out << "| " << (card.order > 0 ? std::to_string(card.order) : "") << " | " << card.name << " | "
        << with_escaped_bars(card.choose) << " | " << synonyms << " |\n";
  }
}

void print_card(std::ostream& out, const Card& card) {
  out << "\n### " << card.name << "\n\n`" << card.formula << "`\n\n| | |\n|---|---|\n";
  for (const auto& [label, text] : card_lines(card)) out << "| " << label << " | " << with_escaped_bars(text) << " |\n";
}

void print_key_table(std::ostream& out, const Card& card) {
  if (card.keys.empty()) return;
  const std::string task = card.task.empty() ? "" : " `task: " + card.task + "`";
  out << "\n| " << (card.kind == "section" ? card.choose + task : "`" + card.name + "`, " + card.kind)
      << " | | default | allowed |\n|---|---|---|---|\n";
  for (const auto& key : card.keys)
    out << "| `" << (card.path.empty() ? "" : card.path + ".") << key.name << "` | " << with_escaped_bars(key.sentence)
        << " | " << with_escaped_bars(key.default_value) << " | "
        << with_escaped_bars(key.range.empty() ? key.kind : key.range) << " |\n";
}

}  // namespace

/// After each section come the components of its task whose keys are below its path; those of every task after the
/// first section of their path.
void print_keys_markdown(std::ostream& out, const std::vector<Card>& all) {
  std::set<std::string> done;
  for (const auto& section : all) {
    if (section.kind != "section") continue;
    print_key_table(out, section);
    const bool first = done.insert(section.path).second;
    for (const auto& card : all)
      if (card.kind != "section" && !card.path.empty() && card.path == section.path &&
          (card.task.empty() ? first : card.task == section.task))
        print_key_table(out, card);
  }
}

void print_cards_markdown(std::ostream& out, const std::vector<Card>& all) {
  out << "# Catalogue\n\nWritten by `heed list --markdown > docs/catalogue.md`. A mechanism is `score + alignment` or "
         "`score + alignment, dimensionality`,\nfor example `additive + entmax(1.5), multi`. Options go in brackets: "
         "`local_p(3, renorm)` or `local_p(window=3, form=renorm)`.\nThe tables give an order of choice, the best "
         "first try at 1, and other names in the literature, which `heed list` finds too.\n\n"
      << kCardSizes << '\n';
  for (const auto& family : card_families()) {
    std::vector<Card> cards;
    std::copy_if(all.begin(), all.end(), std::back_inserter(cards), [&](const Card& card) { return family.has(card); });
    if (cards.empty()) continue;
    out << "\n## " << family.title << "\n\n" << family.idea << '\n';
    if (family.kind == "preset") {
      print_preset_table(out, cards);
      continue;
    }
    print_choices(out, cards);
    for (const auto& card : cards) print_card(out, card);
  }
}

}  // namespace heed::cli
