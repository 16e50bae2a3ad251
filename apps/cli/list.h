// heed list: the catalogue, as its parts describe themselves. Nothing here needs torch.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/cli/list_card.h"

namespace heed::cli {

/// Cards that belong together, in the order of the page.
struct CardFamily {
  std::string kind, plural;  // "score", "scores": what `heed list` accepts
  std::string title, idea;
  std::string axis{};
  bool has(const Card& card) const { return card.kind == kind && card.axis == axis; }
};
const std::vector<CardFamily>& card_families();

/// Sorted by family, by order of choice, by name.
void sort_cards(std::vector<Card>& cards);

/// What a name stands for.
struct FoundCards {
  std::vector<Card> cards;           // at least one
  std::vector<std::string> remarks;  // "bilinear is another name of general (score)"
  bool family = false;               // all cards of one kind, which are better shown as a table
};
/// name: a part ("entmax", "entmax(1.5)"), a synonym ("bilinear", "soft attention"), or a kind ("scores"). Refuses
/// others, with the nearest name.
FoundCards find_cards(const std::vector<Card>& all, const std::string& name);

/// One line for each: order, name, formula, when to choose it; in so many columns, 0: as many as it takes.
void print_card_table(std::ostream& out, const std::vector<Card>& cards, int columns);
void print_cards(std::ostream& out, const std::vector<Card>& cards);
void print_cards_json(std::ostream& out, const std::vector<Card>& cards);
/// The page docs/catalogue.md.
void print_cards_markdown(std::ostream& out, const std::vector<Card>& cards);

/// What both texts share: a label and a text for each line below the formula.
std::vector<std::pair<std::string, std::string>> card_lines(const Card& card);
extern const char* const kCardSizes;

}  // namespace heed::cli
