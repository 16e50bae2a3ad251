#include <algorithm>
#include <dirent.h>
#include <memory>
#include <set>
#include <sstream>

#include "apps/cli/compare.h"
#include "apps/cli/program_name.h"
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/shell.h"
#include "heed/data/file.h"
#include "heed/data/runs.h"
#include "heed/data/safetensors.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 4;  // of nested folders that are searched for runs

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  for (const dirent* entry = open ? ::readdir(open.get()) : nullptr; entry; entry = ::readdir(open.get()))
    if (entry->d_name[0] != '.' && is_folder(folder + "/" + entry->d_name)) names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

void add_runs(const std::string& folder, int depth, std::vector<std::string>& all) {
  if (is_run(folder) && exists(folder + "/recipe.yaml")) return all.push_back(folder);
  if (depth == 0) return;
  for (const auto& name : folders_in(folder)) add_runs(folder + "/" + name, depth - 1, all);
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// The file as JSON; null if it is missing or damaged.
Json read_json(const std::string& path) {
  if (!exists(path)) return nullptr;
  Json content = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  return content.is_object() ? content : Json(nullptr);
}

std::optional<double> number_in(const Json& object, const std::string& key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_number()) return std::nullopt;
  return object[key].get<double>();
}

std::string text_in(const Json& object, const std::string& key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

void add_figures(RunSummary& run, const std::string& set, const Json& report) {
  for (const char* name : {"bleu", "chrf", "ter", "perplexity", "aer", "accuracy", "f1", "matthews",
                           "calibration_error", "mse", "spearman"})
    if (const auto value = number_in(report, name)) run.figures[set + " " + name] = *value;
  if (const auto signature = text_in(report, "bleu_signature"); !signature.empty())
    run.comparables[set + " BLEU signature"] = signature;
  if (const auto examples = number_in(report, "examples"))
    run.comparables[set + " examples"] = std::to_string(static_cast<int64_t>(*examples));
  if (const auto sentences = number_in(report, "sentences"))
    run.comparables[set + " sentences"] = std::to_string(static_cast<int64_t>(*sentences));
}

/// The key "mechanism" of config.json, or its model keys for runs of versions that did not write it.
std::string mechanism_of(const Json& config) {
  if (const auto spec = text_in(config, "mechanism"); !spec.empty()) return spec;
  if (!config.is_object() || !config.contains("model") || !config["model"].is_object()) return "";
  const Json attention = config["model"].value("attention", Json());
  const std::string kind = text_in(attention, "kind"), score = text_in(attention, "score"),
                    align = text_in(attention, "align");
  return !kind.empty() && kind != "mechanism" ? kind : score.empty() || align.empty() ? "" : score + " + " + align;
}

/// Time and best dev figures of a run that has not finished. The last line may be incomplete.
void add_metrics(RunSummary& run, const std::string& path) {
  if (!exists(path)) return;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    const Json metrics = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!metrics.is_object()) continue;
    run.step = number_in(metrics, "step");
    run.seconds = number_in(metrics, "seconds");
    for (const char* name : {"bleu", "accuracy"}) {  // what decides; the others are of the same validation
      const auto value = number_in(metrics, std::string("dev_") + name);
      const std::string key = std::string("dev ") + name;
      if (!value || (run.figures.count(key) > 0 && *value <= run.figures[key])) continue;
      run.figures[key] = *value;
      for (const char* also : {"perplexity", "f1"})
        if (const auto figure = number_in(metrics, std::string("dev_") + also))
          run.figures[std::string("dev ") + also] = *figure;
    }
  }
}

/// The training state in the header of a checkpoint; null if it cannot be read.
Json checkpoint_state(const std::string& path) {
  if (!exists(path)) return nullptr;
  try {
    const Metadata metadata = SafetensorsFile(path).metadata();
    const auto state = metadata.find("state");
    return state == metadata.end() ? Json(nullptr) : Json::parse(state->second, nullptr, /*allow_exceptions=*/false);
  } catch (const Error&) {
    return nullptr;
  }
}

/// Tokens per second of the training steps alone, as in results.json: without validations and checkpoints.
void add_speed(RunSummary& run, const Json& checkpoint) {
  if (!checkpoint.is_object()) return;
  const Json state = checkpoint.value("train_state", Json());
  const auto tokens = number_in(state, "tokens"), seconds = number_in(state, "step_seconds");
  const double tokens_per_unit = number_in(checkpoint, "tokens_per_unit").value_or(1);
  if (tokens && seconds && *seconds > 0) run.tokens_per_second = *tokens * tokens_per_unit / *seconds;
}

std::string resume_command(const std::string& folder, const Json& state) {
  const auto threads = number_in(state, "threads");
  return program_name() + " " + (threads ? "--threads " + std::to_string(static_cast<int64_t>(*threads)) + " " : "") +
         "train --resume " + quoted_for_shell(folder);
}

void add_results(RunSummary& run, const Json& results) {
  if (const auto spec = text_in(results, "mechanism"); !spec.empty()) run.mechanism = spec;
  run.parameters = number_in(results, "parameters");
  run.step = number_in(results, "step");
  run.seconds = number_in(results, "train_seconds");
  run.peak_memory = number_in(results, "peak_memory");
  if (const auto rate = number_in(results, "tokens_per_second")) run.tokens_per_second = rate;
  if (const auto version = text_in(results, "heed"); !version.empty()) run.version = version;
  if (const auto device = text_in(results, "device"); !device.empty()) {
    const auto threads = static_cast<int64_t>(number_in(results, "threads").value_or(1));
    run.machine = device + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  }
  for (const char* set : {"dev", "test"})
    if (results.contains(set)) add_figures(run, set, results[set]);
}

}  // namespace

std::vector<std::string> run_folders(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const auto& given : paths) {
    const std::string path = without_slash(given);
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash + 1);
    check(is_folder(path), "compare: got '", excerpt(given), "'",
          suggestion(path.substr(parent.size()), folders_in(parent.empty() ? "." : parent)),
          ", expected the folder of a run, or a folder with runs in it");
    const size_t before = all.size();
    add_runs(path, kMaxDepth, all);
    check(all.size() > before, "compare: got '", excerpt(given), "', which has no run in it; expected a run ",
          "folder, written by heed train, or a folder that contains run folders");
  }
  std::vector<std::string> once;
  std::set<std::string> seen;
  for (const auto& folder : all) {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(folder.c_str(), nullptr), &::free);
    if (seen.insert(real ? real.get() : folder).second) once.push_back(folder);
  }
  return once;
}

RunSummary read_run_summary(const std::string& folder) {
  RunSummary run;
  run.run = folder;
  const Json config = read_json(folder + "/config.json"), results = read_json(folder + "/results.json");
  run.mechanism = mechanism_of(config);
  run.version = text_in(config, "heed");
  if (!results.is_null()) {
    run.origin.add_run(results);
    add_results(run, results);
    return run;
  }
  add_metrics(run, folder + "/metrics.jsonl");
  const Json checkpoint = checkpoint_state(folder + "/checkpoint.safetensors");
  run.parameters = number_in(checkpoint, "parameters");
  add_speed(run, checkpoint);
  const std::string state = exists(folder + "/results.json") ? "results.json is damaged" : "no results.json yet";
  run.missing = state + (run.step ? ", figures up to step " + std::to_string(static_cast<int64_t>(*run.step)) : "") +
                "; finish it: " + resume_command(folder, checkpoint);
  return run;
}

}  // namespace heed::cli
