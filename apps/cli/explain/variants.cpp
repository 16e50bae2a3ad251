#include "apps/cli/explain/variants.h"

#include <algorithm>
#include <filesystem>

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

/// What a variant is trained from. A run that moves is the same one.
Json key_of(const VariantCall& call, const std::vector<std::string>& overrides) {
  Json key{{"format", kVariantFormat}, {"recipe_md5", recipe_md5(call.run)}, {"overrides", Json::array()}};
  bool of_run = false;
  for (const auto& override : overrides) {
    key["overrides"].push_back(replaced_all(override, call.run, "<run>"));
    of_run = of_run || key["overrides"].back() != override;
  }
  if (of_run) key["model_md5"] = file_md5(call.run + "/model.safetensors");
  return key;
}

/// Removes what another recipe left, and says what is trained now.
void prepare(const VariantCall& call, const std::string& name, const std::vector<std::string>& overrides,
             GridProgress& progress) {
  const std::string folder = folder_of(call, name), file = key_file(folder);
  const Json key = key_of(call, overrides);
  const bool known = exists(file);
  if (known && Json::parse(read_file(file), nullptr, /*allow_exceptions=*/false) == key) return;
  check(known || !exists(folder), "explain: got a folder ", folder, " without ", file,
        ", expected one that heed explain trained; rename it");
  if (known && exists(folder)) progress.line(name + " was of another recipe or run, and is trained anew");
  std::error_code ignored;
  for (const char* end : {"", ".log", ".failed.json"}) std::filesystem::remove_all(folder + end, ignored);
  make_folders(call.run + "/explain");
  write_atomically(file, key.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

bool has_override(const std::vector<std::string>& overrides, const std::string& key) {
  return std::any_of(overrides.begin(), overrides.end(),
                     [&](const std::string& one) { return one.starts_with(key + "="); });
}

}  // namespace

VariantOutcome train_variants(const VariantCall& call, GridProgress& progress) {
  GridWork work{.recipe = call.run + "/recipe.yaml",
                .threads = call.threads,
                .runs = {},
                .overrides = {},
                .overrides_when_resumed = call.overrides,
                .working_folder = call.working_folder};
  std::vector<std::string> names;
  for (const auto& [name, overrides] : call.variants) {
    prepare(call, name, overrides, progress);
    names.push_back(name);
    work.runs.push_back({.folder = folder_of(call, name), .title = name});
    work.overrides.push_back(overrides);
    work.overrides.back().insert(work.overrides.back().end(), call.overrides.begin(), call.overrides.end());
  }
  VariantOutcome outcome;
  const auto is_finished = [](const GridRun& run) { return state_of(run) == RunState::finished; };
  if (!std::all_of(work.runs.begin(), work.runs.end(), is_finished))
    outcome.signal = train_runs(work, {call.program, call.jobs, call.retry}, progress);
  progress.clear();
  for (size_t i = 0; i < names.size(); ++i) {
    if (is_finished(work.runs[i]))
      outcome.folders[names[i]] = work.runs[i].folder;
    else if (const auto failure = failure_of(work.runs[i]))
      outcome.failures[names[i]] = failure->reason;
  }
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
