#include "apps/cli/ablate/plan.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kPlanFormat = 1;
constexpr const char* kPlanFile = "/plan.json";

std::vector<Cell> cells_of(const std::vector<Axis>& axes) {
  const auto grid = grid_of(axes);
  const auto names = cell_names(axes, grid);
  std::vector<Cell> cells;
  for (size_t i = 0; i < grid.size(); ++i) cells.push_back({names[i], grid[i]});
  return cells;
}

/// All values by dotted path.
std::map<std::string, std::string> leaves_of(const Setting& setting, const std::string& path = "") {
  if (setting.form == Setting::Form::scalar) return {{path, setting.text}};
  if (setting.form == Setting::Form::absent) return {{path, "null"}};
  std::map<std::string, std::string> all;
  for (size_t i = 0; i < setting.items.size(); ++i) {
    const std::string name = i < setting.names.size() ? setting.names[i] : std::to_string(i);
    const std::string between = path.empty() || name.empty() ? "" : ".";
    all.merge(leaves_of(setting.items[i], joined({path, name}, between)));
  }
  return all;
}

void add_recipe_differences(const Plan& ours, const Plan& theirs, std::vector<std::string>& all) {
  const auto now = leaves_of(parse_recipe(ours.base, ours.recipe).written()),
             before = leaves_of(parse_recipe(theirs.base, "plan.json").written());
  const auto in = [](const auto& values, const std::string& key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string("not given") : "'" + excerpt(found->second) + "'";
  };
  std::map<std::string, std::string> keys = now;
  keys.insert(before.begin(), before.end());
  for (const auto& [key, value] : keys)
    if (in(now, key) != in(before, key)) all.push_back(key + " is " + in(now, key) + ", there " + in(before, key));
}

/// What the folder has and this call has not.
template <typename Value>
std::vector<std::string> missing_from(const std::vector<Value>& ours, const std::vector<Value>& theirs) {
  std::vector<std::string> missing;
  for (const auto& value : theirs)
    if (std::find(ours.begin(), ours.end(), value) == ours.end()) {
      std::ostringstream text;
      text << value;
      missing.push_back(text.str());
    }
  return missing;
}

std::string keys_text(const std::vector<Axis>& axes) {
  std::vector<std::string> keys(axes.size());
  std::transform(axes.begin(), axes.end(), keys.begin(), [](const Axis& axis) { return axis.key; });
  return joined(keys);
}

Json json_of(const Plan& plan) {
  Json json{{"format", kPlanFormat},   {"recipe", plan.recipe}, {"overrides", plan.overrides}, {"seeds", plan.seeds},
            {"threads", plan.threads}, {"vary", Json::array()}, {"cells", Json::array()},      {"base", plan.base}};
  for (const auto& axis : plan.axes) json["vary"].push_back({{"key", axis.key}, {"values", axis.values}});
  for (const auto& cell : plan.cells) json["cells"].push_back({{"name", cell.name}, {"values", cell.values}});
  return json;
}

Plan plan_of(const Json& json) {
  Plan plan;
  json.at("recipe").get_to(plan.recipe);
  json.at("base").get_to(plan.base);
  json.at("overrides").get_to(plan.overrides);
  json.at("seeds").get_to(plan.seeds);
  json.at("threads").get_to(plan.threads);
  for (const auto& axis : json.at("vary")) plan.axes.push_back({axis.at("key"), axis.at("values")});
  for (const auto& cell : json.at("cells")) plan.cells.push_back({cell.at("name"), cell.at("values")});
  return plan;
}

}  // namespace

Plan make_plan(const std::string& recipe, const std::vector<std::string>& overrides, const std::vector<Axis>& axes,
               const std::vector<int64_t>& seeds, int threads) {
  check_overrides(overrides, axes);
  Plan plan{.recipe = recipe,
            .base = recipe_yaml(read_recipe(recipe, overrides)),
            .overrides = overrides,
            .axes = axes,
            .seeds = seeds,
            .threads = threads,
            .cells = cells_of(axes)};
  for (const auto& cell : plan.cells) {  // values that are no YAML are refused now
    std::vector<std::string> settings;
    for (size_t i = 0; i < axes.size(); ++i) settings.push_back(axes[i].key + "=" + cell.values[i]);
    parse_recipe(plan.base, recipe, settings);
  }
  return plan;
}

std::vector<std::string> differences(const Plan& ours, const Plan& in_folder) {
  std::vector<std::string> all;
  add_recipe_differences(ours, in_folder, all);
  if (keys_text(ours.axes) != keys_text(in_folder.axes)) {
    all.push_back("--vary has " + keys_text(ours.axes) + ", there " + keys_text(in_folder.axes));
  } else {
    for (size_t i = 0; i < ours.axes.size(); ++i)
      if (const auto missing = missing_from(ours.axes[i].values, in_folder.axes[i].values); !missing.empty())
        all.push_back("--vary " + ours.axes[i].key + " lacks " + joined(missing) + ", which is there");
  }
  if (const auto missing = missing_from(ours.seeds, in_folder.seeds); !missing.empty())
    all.push_back("--seeds lacks " + joined(missing) + ", which is there");
  if (ours.threads != in_folder.threads)
    all.push_back("--threads is " + std::to_string(ours.threads) + ", there " + std::to_string(in_folder.threads));
  return all;
}

Plan continued(Plan ours, const Plan& in_folder) {
  for (auto& cell : ours.cells)
    for (const auto& old : in_folder.cells)
      if (old.values == cell.values) cell.name = old.name;
  return ours;
}

std::optional<Plan> read_plan(const std::string& folder) {
  const std::string path = folder + kPlanFile;
  if (!exists(path)) return std::nullopt;
  try {
    const Json json = Json::parse(read_file(path));
    check(json.at("format") == kPlanFormat, "ablate: ", path, ": got format ", json.at("format").dump(), ", expected ",
          kPlanFormat);
    return plan_of(json);
  } catch (const Json::exception& error) {
    fail("ablate: ", path, ": got a damaged plan (", error.what(), "), expected the one that heed ablate wrote; ",
         "restore it, or name another folder with --out");
  }
}

void write_plan(const std::string& folder, const Plan& plan) {
  write_atomically(folder + kPlanFile, json_of(plan).dump(2) + "\n");
  write_atomically(recipe_path(folder), plan.base);
}

std::vector<GridRun> runs_of(const Plan& plan, const std::string& folder) {
  std::vector<GridRun> runs;
  for (const int64_t seed : plan.seeds)
    for (size_t cell = 0; cell < plan.cells.size(); ++cell) {
      const std::string& name = plan.cells[cell].name;
      const std::string number = std::to_string(seed);
      runs.push_back({cell, seed, joined({folder, name, "seed-" + number}, "/"), joined({name, "seed " + number})});
    }
  return runs;
}

std::vector<std::string> overrides_of(const Plan& plan, const GridRun& run) {
  std::vector<std::string> all;
  for (size_t i = 0; i < plan.axes.size(); ++i) all.push_back(plan.axes[i].key + "=" + plan.cells[run.cell].values[i]);
  all.push_back("train.seed=" + std::to_string(run.seed));
  return all;
}

std::string recipe_path(const std::string& folder) {
  return folder + "/recipe.yaml";
}

}  // namespace heed::cli
