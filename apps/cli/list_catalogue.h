// The cards of the catalogue, without torch. Parts describe themselves in libheed, so the build asks them once: the
// program heed_catalogue (catalogue/write.cpp) collects the cards and writes them as JSON into a generated file, which
// is linked into the program.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/list_card.h"

namespace heed::cli {

/// As collect_cards() gave them when the program was built.
std::vector<Card> catalogue_cards();

/// All fields of all cards, and back.
std::string cards_to_text(const std::vector<Card>& cards);
std::vector<Card> cards_from_text(const std::string& text);

}  // namespace heed::cli
