// heed list: prints the catalogue from the descriptions of its parts. Needs no torch.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/cli/list_card.h"

namespace heed::cli {

/// A group of cards; the families are in the order of the page docs/catalogue.md.
struct CardFamily {
  std::string kind, plural;  // "score", "scores": what `heed list` accepts
  std::string title, idea;   // heading, and one sentence on what the family is
  std::string axis{};        // of the taxonomy, for structures
  bool has(const Card& card) const { return card.kind == kind && card.axis == axis; }
};
const std::vector<CardFamily>& card_families();

/// Sorts by family, then order of choice, then name.
void sort_cards(std::vector<Card>& cards);

/// The cards that a name refers to.
struct FoundCards {
  std::vector<Card> cards;           // at least one
  std::vector<std::string> remarks;  // "bilinear is another name of general (score)"
  bool family = false;               // all cards of one kind, shown as a table
};
/// name: a part ("entmax", "entmax(1.5)"), a synonym ("bilinear", "soft attention"), or a kind ("scores"). Throws on
/// other names and suggests the nearest one.
FoundCards find_cards(const std::vector<Card>& all, const std::string& name);

/// One line per part: order, name, formula, when to choose it; at most `columns` wide (0: no limit).
void print_card_table(std::ostream& out, const std::vector<Card>& cards, int columns);
void print_cards(std::ostream& out, const std::vector<Card>& cards);
void print_cards_json(std::ostream& out, const std::vector<Card>& cards);
/// The page docs/catalogue.md.
void print_cards_markdown(std::ostream& out, const std::vector<Card>& cards);

/// The tables of keys in docs/recipes.md, between its two comments.
void print_keys_markdown(std::ostream& out, const std::vector<Card>& cards);

/// Label and text of each line below the formula, shared by print_cards and print_cards_markdown.
std::vector<std::pair<std::string, std::string>> card_lines(const Card& card);
/// Explains the symbols of shapes and costs: Lq, Lk, Dq, ...
extern const char* const kCardSizes;

}  // namespace heed::cli
