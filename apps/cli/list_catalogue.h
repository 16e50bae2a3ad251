// The cards of the catalogue, without torch. Parts describe themselves in libheed, which needs torch. So the build runs
// heed_catalogue (catalogue/write.cpp) once: it collects the cards and writes them as JSON into a generated source
// file, which is linked into the program.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/list_card.h"

namespace heed::cli {

/// The result of collect_cards() at build time.
std::vector<Card> catalogue_cards();

/// Serializes all fields of all cards to JSON, and parses them back.
std::string cards_to_text(const std::vector<Card>& cards);
std::vector<Card> cards_from_text(const std::string& text);

}  // namespace heed::cli
