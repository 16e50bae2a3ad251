// results.json of an ablation.

#include <cmath>

#include "apps/cli/ablate/summary.h"
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json optional_json(const std::optional<double>& value) {
  return value ? finite(*value) : Json(nullptr);
}

Json json_of_seeds(const SeedFigures& figures) {
  Json values = Json::object();
  for (const auto& [seed, value] : figures.values) values[std::to_string(seed)] = value;
  return {{"mean", finite(figures.mean)},
          {"deviation", finite(figures.deviation)},
          {"low", finite(figures.low)},
          {"high", finite(figures.high)},
          {"seeds", values}};
}

Json json_of_test(const CellSummary& cell) {
  if (!cell.against_first) return nullptr;
  const Comparison& found = *cell.against_first;
  return {{"difference", finite(found.difference)}, {"low", finite(found.interval->low)},
          {"high", finite(found.interval->high)},   {"p", finite(found.p)},
          {"p_holm", finite(found.p_holm)},         {"seeds", cell.compared_seeds()}};
}

Json json_of_cell(const AblationSummary& summary, const CellSummary& cell) {
  Json one{{"cell", cell.cell.name}, {"values", Json::object()}};
  for (size_t i = 0; i < summary.plan.axes.size(); ++i) one["values"][summary.plan.axes[i].key] = cell.cell.values[i];
  one["runs"] = {{"finished", cell.finished}, {"failed", cell.failures.size()}, {"left", cell.left}};
  for (const auto& [run, reason] : cell.failures) one["failures"].push_back({{"run", run}, {"reason", reason}});
  for (const auto& [run, reason] : cell.unmeasured)
    one["attention_failures"].push_back({{"run", run}, {"reason", reason}});
  for (size_t i = 0; i < cell.figures.size(); ++i)
    one["figures"][summary.figures[i].name()] = json_of_seeds(cell.figures[i]);
  one.update({{"against_first", json_of_test(cell)},
              {"difference", cell.difference ? json_of_seeds(*cell.difference) : Json(nullptr)},
              {"parameters", optional_json(cell.parameters)},
              {"tokens_per_second", optional_json(cell.tokens_per_second)},
              {"peak_memory", optional_json(cell.peak_memory)},
              {"train_seconds", optional_json(cell.train_seconds)}});
  return one;
}

}  // namespace

Json as_json(const AblationSummary& summary) {
  Json all{{"ablation", summary.folder},
           {"recipe", summary.plan.recipe},
           {"overrides", summary.plan.overrides},
           {"vary", Json::array()},
           {"seeds", summary.plan.seeds},
           {"quality", nullptr},
           {"resampling",
            {{"samples", summary.resampling.samples},
             {"seed", summary.resampling.seed},
             {"confidence", summary.resampling.confidence}}},
           {"cells", Json::array()},
           {"remarks", summary.remarks},
           {"provenance", as_json(summary.origin)}};
  for (const auto& axis : summary.plan.axes) all["vary"].push_back({{"key", axis.key}, {"values", axis.values}});
  if (!summary.figures.empty())
    all["quality"] = {{"figure", summary.figures.front().name()},
                      {"higher_is_better", summary.figures.front().higher_is_better}};
  if (summary.gold) all["attention_gold"] = {{"options", summary.gold->options}, {"md5", summary.gold->md5}};
  for (const auto& cell : summary.cells) all["cells"].push_back(json_of_cell(summary, cell));
  return all;
}

}  // namespace heed::cli
