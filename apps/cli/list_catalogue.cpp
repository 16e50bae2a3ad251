#include "apps/cli/list_catalogue.h"

#include <nlohmann/json.hpp>

namespace heed {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Options::Known, name, default_value, kind)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RecipeKey, name, kind, default_value, range, sentence)
}  // namespace heed

namespace heed::cli {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CardParameter, name, shape, with)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Card, kind, name, axis, order, synonyms, formula, choose, cost, paper, parameters,
                                   options, path, task, keys, dimensionalities, inside, takes, modules, axes)

std::string cards_to_text(const std::vector<Card>& cards) {
  return nlohmann::json(cards).dump(-1, ' ', /*ensure_ascii=*/true);
}

std::vector<Card> cards_from_text(const std::string& text) {
  return nlohmann::json::parse(text).get<std::vector<Card>>();
}

}  // namespace heed::cli
