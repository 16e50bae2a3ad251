#include "apps/cli/explain/variants.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "apps/cli/ablate/grid.h"
#include "apps/cli/ablate/run_state.h"
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/md5.h"
#include "heed/base/path.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/data/saved_model.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVariantFormat = 1;
constexpr const char* kModelFile = "/model.safetensors";

std::string folder_of(const VariantCall& call, const std::string& name) {
  return call.run + "/explain/" + name;
}

std::string key_file(const std::string& folder) {
  return folder + ".variant.json";
}

std::string replaced_all(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The recipe of the run, without what says where it is.
std::string recipe_md5(const std::string& run) {
  Settings recipe = read_recipe(run + "/recipe.yaml");
  for (const char* key : {"run.dir", "data.root", "train.device"}) recipe.set(key, Setting{});
  return md5_hex(recipe_yaml(recipe));
}

/// Whether one of the overrides names the folder: as a whole, not as the beginning of another path.
bool names_folder(const std::vector<std::string>& overrides, const std::string& folder) {
  for (const auto& override : overrides)
    for (size_t at = 0; (at = override.find(folder, at)) != std::string::npos; ++at) {
      const size_t end = at + folder.size();
      if (end == override.size() || std::string_view(" ,]}'\"").find(override[end]) != std::string_view::npos)
        return true;
    }
  return false;
}

/// The other variants that one is trained from.
std::vector<std::string> sources_of(const VariantCall& call, const std::string& name) {
  std::vector<std::string> sources;
  for (const auto& [other, overrides] : call.variants)
    if (other != name && names_folder(call.variants.at(name), folder_of(call, other))) sources.push_back(other);
  return sources;
}

/// What a variant is trained from. A run that moves is the same one.
Json key_of(const VariantCall& call, const std::string& name) {
  Json key{{"format", kVariantFormat}, {"recipe_md5", recipe_md5(call.run)}, {"overrides", Json::array()}};
  for (const auto& override : call.variants.at(name))
    key["overrides"].push_back(replaced_all(override, call.run, "<run>"));
  if (names_folder(call.variants.at(name), call.run)) key["model_md5"] = file_md5(call.run + kModelFile);
  for (const auto& source : sources_of(call, name))
    key["models_md5"][source] = file_md5(folder_of(call, source) + kModelFile);
  return key;
}

/// Removes what another recipe left, and says what is trained now.
void prepare(const VariantCall& call, const std::string& name, GridProgress& progress) {
  const std::string folder = folder_of(call, name), file = key_file(folder);
  const Json key = key_of(call, name);
  const bool known = exists(file);
  if (known && Json::parse(read_file(file), nullptr, /*allow_exceptions=*/false) == key) return;
  check(known || !exists(folder), "explain: got a folder ", folder, " without ", file,
        ", expected one that heed explain trained; rename it");
  if (known && exists(folder)) progress.line(name + " was of another recipe or model, and is trained anew");
  std::error_code ignored;
  for (const char* end : {"", ".log", ".failed.json"}) std::filesystem::remove_all(folder + end, ignored);
  make_folders(call.run + "/explain");
  write_atomically(file, key.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

bool has_override(const std::vector<std::string>& overrides, const std::string& key) {
  return std::any_of(overrides.begin(), overrides.end(),
                     [&](const std::string& one) { return one.starts_with(key + "="); });
}

/// Trains those that depend on nothing that is not trained.
void train_some(const VariantCall& call, const std::vector<std::string>& names, GridProgress& progress,
                VariantOutcome& outcome) {
  GridWork work{.recipe = call.run + "/recipe.yaml",
                .threads = call.threads,
                .runs = {},
                .overrides = {},
                .overrides_when_resumed = call.overrides,
                .working_folder = call.working_folder};
  for (const auto& name : names) {
    prepare(call, name, progress);
    work.runs.push_back({.folder = folder_of(call, name), .title = name});
    work.overrides.push_back(call.variants.at(name));
    work.overrides.back().insert(work.overrides.back().end(), call.overrides.begin(), call.overrides.end());
  }
  const auto is_finished = [](const GridRun& run) { return state_of(run) == RunState::finished; };
  if (!std::all_of(work.runs.begin(), work.runs.end(), is_finished))
    outcome.signal = train_runs(work, {call.program, call.jobs, call.retry}, progress);
  for (size_t i = 0; i < names.size(); ++i) {
    if (is_finished(work.runs[i]))
      outcome.folders[names[i]] = work.runs[i].folder;
    else if (const auto failure = failure_of(work.runs[i]); failure && outcome.signal == 0)
      outcome.failures[names[i]] = failure->reason;
  }
}

}  // namespace

VariantOutcome train_variants(const VariantCall& call, GridProgress& progress) {
  VariantOutcome outcome;
  std::set<std::string> left;
  for (const auto& [name, overrides] : call.variants) left.insert(name);
  while (!left.empty() && outcome.signal == 0) {
    std::vector<std::string> next;
    for (const auto& name : left) {
      const auto sources = sources_of(call, name);
      const auto failed = std::find_if(sources.begin(), sources.end(),
                                       [&](const auto& one) { return outcome.failures.count(one) > 0; });
      if (failed != sources.end())
        outcome.failures[name] =
            "the model " + *failed + ", which it is trained from, could not be trained: " + outcome.failures[*failed];
      else if (std::none_of(sources.begin(), sources.end(), [&](const auto& one) { return left.count(one) > 0; }))
        next.push_back(name);
    }
    const size_t before = left.size();
    train_some(call, next, progress, outcome);
    std::erase_if(
        left, [&](const auto& name) { return outcome.folders.count(name) > 0 || outcome.failures.count(name) > 0; });
    check(left.size() < before || outcome.signal != 0,
          "explain: got models that are trained from each other: ", joined({left.begin(), left.end()}),
          ", expected an order in which they can be trained");
  }
  progress.clear();
  return outcome;
}

std::string training_folder_of(const std::string& run) {
  const std::string results = run + "/results.json";
  const Json content = exists(results) ? Json::parse(read_file(results), nullptr, /*allow_exceptions=*/false) : Json();
  if (!content.is_object() || !content.contains("run") || !content["run"].is_string()) return "";
  std::string name = content["run"].get<std::string>();
  while (name.starts_with("./")) name.erase(0, 2);
  const std::string own = without_links(run);
  const bool inside = !name.empty() && name.front() != '/' && own.ends_with("/" + name);
  return inside ? own.substr(0, own.size() - name.size() - 1) : "";
}

std::vector<std::string> root_override(const std::string& run, const std::vector<std::string>& overrides) {
  const Settings recipe = read_recipe(run + "/recipe.yaml");
  const std::string root = recipe.at("data").text("root");
  const auto files = recipe.at("data").texts("train");
  const std::string origin = training_folder_of(run);
  if (has_override(overrides, "data.root") || files.empty() || origin.empty()) return {};
  const std::string moved = below_folder(origin, root.empty() ? "." : root);
  const bool here = exists(below_folder(root, files.front()));
  if (here || !exists(below_folder(moved, files.front()))) return {};
  return {"data.root=" + moved};
}

}  // namespace heed::cli
