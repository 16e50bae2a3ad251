// heed explain: tests whether the attention of runs explains what they decide.

#include <algorithm>
#include <iostream>

#include "apps/cli/explain/comparison.h"
#include "apps/cli/explain/page.h"
#include "apps/cli/explain/terminal.h"
#include "apps/cli/program_name.h"
#include "apps/cli/provenance.h"
#include "apps/cli/screen.h"
#include "apps/cli/table.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/torch/device.h"
#include "apps/cli/torch/explain_run.h"
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/recipe_keys.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/data/runs.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSomeFailed = 1, kFirstSignal = 128;

/// Keys that say which texts are explained and where they are in their files. Others change what a run is trained on,
/// or how it reads a text, which is as it was trained.
const std::vector<std::string>& keys_of_texts() {
  static const std::vector<std::string> keys{
      "data.root",         "data.dev",         "data.test",          "data.format",         "data.swap",
      "data.drop_empty",   "data.header",      "data.text",          "data.label",          "data.id",
      "data.classes",      "data.exclude_ids", "data.ignore_labels", "data.dev_rationales", "data.split.modulo",
      "data.split.dev",    "data.split.test",  "data.reviews.seed",  "data.reviews.dev",    "data.reviews.test",
      "data.grammar.seed", "data.grammar.dev", "data.grammar.test"};
  return keys;
}

constexpr const char *kSplit = "data.split", *kTrain = "data.train";  // kSplit: a map, all keys of which choose texts

bool is_among(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::vector<std::string> keys_of_data() {
  std::vector<std::string> keys;
  for (const auto& section : RecipeSection::all()) {
    if (section.path != "data" && !section.path.starts_with("data.")) continue;
    keys.push_back(section.path);
    for (const auto& key : section.keys) keys.push_back(section.path + "." + key.name);
  }
  return keys;
}

/// Whether data.train says which texts dev and test are: built-in ones, or some of its file.
bool train_chooses_texts(const std::string& run, const std::vector<std::string>& overrides) {
  const Settings data = read_recipe(run + "/recipe.yaml", overrides).at("data");
  const auto train = data.texts("train");
  const bool built_in = train.size() == 1 && (train[0] == "reviews" || train[0] == "grammar");
  return built_in || data.at("split").integer("modulo", 0) > 0;
}

void check_overrides(const ExplainArguments& a) {
  const auto& allowed = keys_of_texts();
  const auto known = keys_of_data();
  for (const auto& override : a.overrides) {
    const std::string key = override.substr(0, override.find('='));
    if (key == kSplit || is_among(allowed, key)) continue;
    if (key == kTrain && std::any_of(a.runs.begin(), a.runs.end(), [&](const std::string& run) {
          return train_chooses_texts(run, a.overrides) || train_chooses_texts(run, {});
        }))
      continue;
    check(!is_among(known, key), "explain: got the override '", excerpt(override),
          "', which does not choose texts: the run reads them as it was trained; expected one that says which texts ",
          "are explained, as data.root=... or data.test=...");
    fail("explain: got the override '", excerpt(override), "'", suggestion(key, allowed),
         ", expected one that says which texts are explained, as data.root=... or data.test=...");
  }
}

/// What a call is about is checked before anything is read.
void check_call(const ExplainArguments& a) {
  device_of(a.device);
  for (size_t i = 0; i < a.runs.size(); ++i) {
    check_run(a.runs[i]);
    check(exists(a.runs[i] + "/recipe.yaml"), "explain: ", a.runs[i],
          ": got a run without recipe.yaml, expected one that heed train wrote: the tests need its texts");
    for (size_t j = 0; j < i; ++j)
      check(a.runs[i] != a.runs[j], "explain: got the run ", excerpt(a.runs[i]), " twice, expected each once");
  }
  check_overrides(a);
  const auto tests = chosen_tests(a.tests, variant_options(a.runs.front(), a));
  check(!tests.empty(), "explain: got --tests ", a.tests, ", of which there is none");
  check(a.rationales.file.empty() || (exists(a.rationales.file) && !is_folder(a.rationales.file)),
        "explain: got --rationales '", excerpt(a.rationales.file),
        "', expected a file: a table of weights of people, as heed eval --attention reads it");
  check(a.out.empty() || !is_folder(a.out), "explain: got --out '", excerpt(a.out), "', which is a folder, expected a ",
        "file, as explain.html");
}

std::string page_of_all(const ExplainArguments& a) {
  if (!a.out.empty()) return a.out;
  return a.runs.size() > 1 ? common_folder(a.runs) + "/" + kExplanationPage : "";
}

void print_one(const RunExplained& found) {
  const int columns = output_columns(0);
  print_explanation(std::cout, found.explanation, found.tests, columns);
}

/// Of the comparison, whose first columns are names.
bool has_intervals(const Table& table) {
  constexpr size_t kNames = 2;
  for (const auto& row : table.rows)
    for (size_t i = kNames; i < row.size(); ++i)
      if (row[i].ends_with(']') || row[i].find("] ") != std::string::npos) return true;
  return false;
}

void print_several(const std::vector<RunExplained>& all) {
  const int columns = output_columns(0);
  std::vector<Explanation> runs;
  for (const auto& one : all) runs.push_back(one.explanation);
  const Table table = comparison_table(runs);
  print_table(std::cout, table, columns);
  std::cout << "+ for the weights as an explanation, - against\n";
  if (has_intervals(table)) std::cout << wrapped(interval_note(), columns) << '\n';
  std::cout << '\n';
  const auto names = short_run_names(runs);
  for (size_t i = 0; i < runs.size(); ++i)
    std::cout << wrapped(names[i] + ": " + short_verdict(runs[i]), columns) << '\n';
  std::cout << wrapped(explanation_caution(), columns) << '\n';
}

void print_end(const std::vector<RunExplained>& all, const std::string& page) {
  std::vector<std::string> files;
  for (const auto& one : all) files.push_back(one.explanation.run + "/" + kExplanationPage + ", " + kExplanationFile);
  if (!page.empty()) files.push_back(page);
  std::cout << "\nwritten, with all tables, plots and examples: " << printable(joined(files)) << '\n';
  const bool are_left = std::any_of(all.begin(), all.end(), [](const RunExplained& one) { return !one.left.empty(); });
  std::vector<std::string> more;
  if (are_left) more = with_tests(own_arguments(), "all");
  if (are_left) more.erase(more.begin());  // the program
  const auto commands = next_commands(all.front().explanation, more);
  if (!commands.empty()) std::cout << "next:\n";
  for (const auto& command : commands) std::cout << "  " << printable(command) << '\n';
}

void print_json(const std::vector<RunExplained>& all) {
  Json json = Json::object();
  if (all.size() == 1) {
    json = as_json(all.front().explanation);
  } else {
    std::vector<Explanation> runs;
    json["runs"] = Json::array();
    for (const auto& one : all) {
      runs.push_back(one.explanation);
      json["runs"].push_back(as_json(one.explanation));
    }
    json["comparison"] = comparison_json(runs);
  }
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

int report(const std::vector<RunExplained>& all, const ExplainArguments& a) {
  const std::string page = page_of_all(a);
  if (!page.empty()) {
    std::vector<Explanation> runs;
    for (const auto& one : all) runs.push_back(one.explanation);
    write_atomically(page, explanation_page(runs));
  }
  if (a.json) {
    print_json(all);
  } else {
    all.size() == 1 ? print_one(all.front()) : print_several(all);
    print_end(all, page);
  }
  bool failed = false;
  for (const auto& one : all) {
    failed = failed || !one.failures.empty();
    for (const auto& failure : one.failures)
      std::cerr << "heed: explain: " << printable_message(one.explanation.run + ": " + failure) << '\n';
  }
  return failed ? kSomeFailed : 0;
}

int run_explain(const ExplainArguments& a) {
  check_call(a);
  std::optional<GoldWeights> gold;
  if (!a.rationales.file.empty()) gold = read_gold_weights(a.rationales);
  std::vector<RunExplained> all;
  bool refused = false;
  for (const auto& run : a.runs) {
    if (a.runs.size() > 1) std::cerr << run << '\n';
    try {
      all.push_back(explain_run(run, a, gold));
    } catch (const WriteError&) {
      throw;
    } catch (const Error& error) {
      if (a.runs.size() == 1) throw;
      std::cerr << "heed: " << printable_message(error.what()) << '\n';
      refused = true;
      continue;
    }
    if (all.back().signal != 0) {
      std::cerr << "stopped; go on with the same command: " << printable(provenance().command) << '\n';
      return kFirstSignal + all.back().signal;
    }
  }
  if (all.empty()) return kSomeFailed;
  const int code = report(all, a);
  return refused ? kSomeFailed : code;
}

const Body explain_body{"explain", run_explain};

}  // namespace
}  // namespace heed::cli
