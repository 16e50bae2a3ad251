// heed list: a short table of the catalogue, or the cards of the named parts.

#include "apps/cli/list.h"

#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/list_catalogue.h"
#include "apps/cli/table.h"

namespace heed::cli {
namespace {

struct ListArguments {
  std::string part;
  bool cards = false, json = false, markdown = false, keys_markdown = false;
};

void run_list(const ListArguments& a) {
  const auto all = catalogue_cards();
  FoundCards found{all, {}, true};
  if (!a.part.empty()) found = find_cards(all, a.part);
  if (a.json) return print_cards_json(std::cout, found.cards);
  if (a.keys_markdown) return print_keys_markdown(std::cout, all);
  if (a.markdown) return print_cards_markdown(std::cout, found.cards);
  if (found.family && !a.cards) return print_card_table(std::cout, found.cards, output_columns(0));
  for (const auto& remark : found.remarks) std::cout << remark << '\n';
  if (!found.remarks.empty()) std::cout << '\n';
  print_cards(std::cout, found.cards);
}

void add_list(CLI::App& app) {
  auto* list = app.add_subcommand("list", "List the catalogue: scores, alignments, structures, presets, ...");
  auto a = std::make_shared<ListArguments>();
  list->add_option("part", a->part,
                   "Part to describe (additive, bilinear, 'soft attention') or kind to list (scores, presets)");
  auto* json = list->add_flag("--json", a->json, "Print JSON");
  auto* markdown = list->add_flag("--markdown", a->markdown, "Print the page docs/catalogue.md")->excludes(json);
  list->add_flag("--markdown-keys", a->keys_markdown, "Print the tables of keys in docs/recipes.md")
      ->excludes(json)
      ->excludes(markdown);
  list->add_flag("--cards", a->cards, "Print the card of each part instead of a table")
      ->excludes(json)
      ->excludes(markdown);
  list->callback([a] { run_list(*a); });
}

const Command list_command{80, add_list};

}  // namespace
}  // namespace heed::cli
