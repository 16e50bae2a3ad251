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
#include "heed/data/runs.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSomeFailed = 1, kFirstSignal = 128;

/// Only keys below `data` say which texts are read; a misspelled one would change nothing.
void check_overrides(const std::vector<std::string>& overrides) {
  std::vector<std::string> known;
  for (const auto& section : RecipeSection::all())
    if (section.path == "data" || section.path.starts_with("data."))
      for (const auto& key : section.keys) known.push_back(section.path + "." + key.name);
  for (const auto& override : overrides) {
    const std::string key = override.substr(0, override.find('='));
    const bool is_map =
        std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.starts_with(key + "."); });
    check(is_map || std::find(known.begin(), known.end(), key) != known.end(), "explain: got the override '",
          excerpt(override), "'", suggestion(key, known), ", expected one that says which texts are read, as ",
          "data.root=... or data.test=...");
  }
}

/// What a call is about is checked before anything is read.
void check_call(const ExplainArguments& a) {
  check_overrides(a.overrides);
  device_of(a.device);
  for (size_t i = 0; i < a.runs.size(); ++i) {
    check_run(a.runs[i]);
    check(exists(a.runs[i] + "/recipe.yaml"), "explain: ", a.runs[i],
          ": got a run without recipe.yaml, expected one that heed train wrote: the tests need its texts");
    for (size_t j = 0; j < i; ++j)
      check(a.runs[i] != a.runs[j], "explain: got the run ", excerpt(a.runs[i]), " twice, expected each once");
  }
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

void print_several(const std::vector<RunExplained>& all) {
  const int columns = output_columns(0);
  std::vector<Explanation> runs;
  for (const auto& one : all) runs.push_back(one.explanation);
  print_table(std::cout, comparison_table(runs), columns);
  std::cout << "+ for the weights as an explanation, - against\n\n";
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
  const auto commands =
      next_commands(all.front().explanation, all.front().explanation.results.size() == explanation_tests().size());
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
