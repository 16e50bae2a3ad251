#include "apps/cli/list.h"
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson as_json(const Card& card) {
  OrderedJson parameters = OrderedJson::array(), options = OrderedJson::array();
  for (const auto& p : card.parameters) {
    parameters.push_back({{"name", p.name}});
    if (card.kind != "structure") parameters.back()["shape"] = p.shape;
    if (!p.with.empty()) parameters.back()["with"] = p.with;
  }
  for (const auto& o : card.options)
    options.push_back({{"name", o.name}, {"default", o.default_value}, {"kind", o.kind}});
  OrderedJson all{{"kind", card.kind},         {"name", card.name},       {"order", card.order},
                  {"synonyms", card.synonyms}, {"formula", card.formula}, {"choose", card.choose},
                  {"parameters", parameters},  {"options", options},      {"cost", card.cost},
                  {"paper", card.paper}};
  for (const auto& key : card.keys)
    all["keys"].push_back({{"name", card.path.empty() ? key.name : card.path + "." + key.name},
                           {"kind", key.kind},
                           {"default", key.default_value},
                           {"range", key.range},
                           {"sentence", key.sentence}});
  if (!card.task.empty()) all["task"] = card.task;
  if (card.kind == "score") all["dimensionalities"] = card.dimensionalities;
  if (card.kind == "structure") {
    all["axis"] = card.axis;
    all["inputs"] = card.takes;
    all["inside"] = card.inside;
    all["modules"] = card.modules;
  }
  if (card.kind == "preset") {
    all["inside"] = card.inside;
    for (const auto& [axis, choice] : card.axes) all["axes"][axis] = choice;
  }
  return all;
}

}  // namespace

void print_cards_json(std::ostream& out, const std::vector<Card>& cards) {
  OrderedJson list = OrderedJson::array();
  for (const auto& card : cards) list.push_back(as_json(card));
  out << list.dump(2) << '\n';
}

}  // namespace heed::cli
