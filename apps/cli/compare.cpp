#include "apps/cli/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <set>

#include "apps/cli/amount_text.h"
#include "apps/cli/command.h"
#include "apps/cli/screen.h"
#include "apps/cli/table.h"
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

using Number = std::optional<double>;

std::string two_digits(double value) {
  return fixed(value, 2);
}

std::string four_digits(double value) {
  return fixed(value, 4);
}

std::string per_cent(double share) {
  return fixed(100 * share, 1) + " %";
}

/// A column of numbers. key: its name in --sort.
struct Column {
  std::string key, title;
  bool higher_is_better;
  std::string (*text)(double);
  std::function<Number(const RunSummary&)> value;
};

Number figure(const RunSummary& run, const std::string& name) {
  const auto found = run.figures.find(name);
  return found == run.figures.end() ? Number() : Number(found->second);
}

bool any_figure(const std::vector<RunSummary>& runs, const std::string& set) {
  return std::any_of(runs.begin(), runs.end(), [&](const RunSummary& run) {
    const auto first = run.figures.lower_bound(set + " ");
    return first != run.figures.end() && first->first.rfind(set + " ", 0) == 0;
  });
}

/// Quality columns show the test set, or dev if no run has a test set.
std::vector<Column> number_columns(const std::vector<RunSummary>& runs) {
  const std::string set = any_figure(runs, "test") ? "test" : "dev";
  const auto of = [](const std::string& name) { return [name](const RunSummary& run) { return figure(run, name); }; };
  std::vector<Column> all;
  all.push_back({"parameters", "parameters", false, with_commas, [](const auto& run) { return run.parameters; }});
  if (set == "test") all.push_back({"dev_bleu", "dev BLEU", true, two_digits, of("dev bleu")});
  all.push_back({"bleu", set + " BLEU", true, two_digits, of(set + " bleu")});
  all.push_back({"chrf", "chrF", true, two_digits, of(set + " chrf")});
  all.push_back({"ter", "TER", false, two_digits, of(set + " ter")});
  all.push_back({"perplexity", "perplexity", false, two_digits, of(set + " perplexity")});
  all.push_back({"aer", "AER", false, per_cent, of(set + " aer")});
  if (set == "test") all.push_back({"dev_accuracy", "dev accuracy", true, per_cent, of("dev accuracy")});
  all.push_back({"accuracy", set + " accuracy", true, per_cent, of(set + " accuracy")});
  all.push_back({"f1", "F1", true, two_digits, of(set + " f1")});
  all.push_back({"matthews", "Matthews", true, two_digits, of(set + " matthews")});
  all.push_back({"calibration_error", "calibration error", false, per_cent, of(set + " calibration_error")});
  all.push_back({"mse", "MSE", false, four_digits, of(set + " mse")});
  all.push_back({"spearman", "Spearman", true, two_digits, of(set + " spearman")});
  all.push_back({"speed", "tokens/s", true, with_commas, [](const auto& run) { return run.tokens_per_second; }});
  all.push_back({"memory", "peak memory", false, megabytes, [](const auto& run) { return run.peak_memory; }});
  all.push_back({"time", "training", false, duration, [](const auto& run) { return run.seconds; }});
  return all;
}

std::set<std::string> machines_of(const std::vector<RunSummary>& runs) {
  std::set<std::string> machines;
  for (const auto& run : runs)
    if (!run.machine.empty()) machines.insert(run.machine);
  return machines;
}

/// Leaves out columns without any value, and the machine column if all runs used the same machine.
Table table_of(const std::vector<RunSummary>& runs) {
  Table table{{"run", "mechanism"}, {false, false}, {}};
  for (const auto& run : runs)
    table.rows.push_back({printable(run.run), run.mechanism.empty() ? "-" : printable(run.mechanism)});
  const auto has_value = [&](const Column& column) {
    return std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return column.value(run).has_value(); });
  };
  for (const auto& column : number_columns(runs)) {
    if (!has_value(column)) continue;
    table.titles.push_back(column.title);
    table.right.push_back(true);
    for (size_t i = 0; i < runs.size(); ++i) {
      const Number value = column.value(runs[i]);
      table.rows[i].push_back(value && std::isfinite(*value) ? column.text(*value) : "-");
    }
  }
  if (machines_of(runs).size() < 2) return table;
  table.titles.emplace_back("on");
  table.right.push_back(false);
  for (size_t i = 0; i < runs.size(); ++i)
    table.rows[i].push_back(runs[i].machine.empty() ? "-" : printable(runs[i].machine));
  return table;
}

/// What each run lacks, and figures that are not comparable between runs.
std::vector<std::string> remarks_on(const std::vector<RunSummary>& runs) {
  std::vector<std::string> remarks;
  std::map<std::string, std::set<std::string>> seen;
  for (const auto& run : runs) {
    if (!run.missing.empty()) remarks.push_back(printable(run.run) + ": " + run.missing);
    for (const auto& [name, value] : run.comparables) seen[name].insert(value);
  }
  for (const auto& [name, values] : seen) {
    if (values.size() < 2) continue;
    std::string all;
    for (const auto& value : values) all += (all.empty() ? "" : ", ") + printable(value);
    remarks.push_back("quality cannot be compared over all runs: " + name + " differ: " + all);
  }
  if (machines_of(runs).size() > 1)
    remarks.emplace_back("tokens/s and time were measured on different devices or numbers of threads");
  return remarks;
}

Provenance origin_of(const std::vector<RunSummary>& runs) {
  Provenance all = provenance();
  for (const auto& run : runs) all.add_runs(run.origin);
  return all;
}

nlohmann::ordered_json as_json(const RunSummary& run) {
  const auto number = [](const Number& value) {
    if (!value || !std::isfinite(*value)) return nlohmann::ordered_json(nullptr);
    const bool whole = *value == std::floor(*value) && std::fabs(*value) < 1e15;
    return whole ? nlohmann::ordered_json(static_cast<int64_t>(*value)) : nlohmann::ordered_json(*value);
  };
  const auto text = [](const std::string& value) {
    return value.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value);
  };
  nlohmann::ordered_json one{{"run", run.run},
                             {"mechanism", text(run.mechanism)},
                             {"parameters", number(run.parameters)},
                             {"dev", nlohmann::ordered_json::object()},
                             {"test", nlohmann::ordered_json::object()},
                             {"tokens_per_second", number(run.tokens_per_second)},
                             {"peak_memory", number(run.peak_memory)},
                             {"train_seconds", number(run.seconds)},
                             {"step", number(run.step)},
                             {"machine", text(run.machine)},
                             {"heed", text(run.version)},
                             {"missing", text(run.missing)}};
  for (const auto& [name, value] : run.figures) {
    const size_t blank = name.find(' ');
    one[name.substr(0, blank)][name.substr(blank + 1)] = number(value);
  }
  return one;
}

}  // namespace

std::vector<std::string> run_sort_keys() {
  std::vector<std::string> keys{"run", "mechanism"};
  RunSummary tested;
  tested.figures["test bleu"] = 0;  // with a test set there are columns for dev too
  for (const auto& column : number_columns({tested})) keys.push_back(column.key);
  return keys;
}

void sort_runs(std::vector<RunSummary>& runs, const std::string& key) {
  if (key.empty()) return;
  if (key == "run" || key == "mechanism") {
    const auto text = key == "run" ? &RunSummary::run : &RunSummary::mechanism;
    std::stable_sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) { return a.*text < b.*text; });
    return;
  }
  const auto columns = number_columns(runs);
  const bool dev = key == "dev_bleu" && columns[1].key != key;  // dev BLEU is then the column "bleu"
  const auto column = std::find_if(columns.begin(), columns.end(),
                                   [&](const Column& c) { return c.key == key || (dev && c.key == "bleu"); });
  const double sign = column->higher_is_better ? -1 : 1;
  const auto rank = [&](const RunSummary& run) {
    const Number value = column->value(run);
    return value && !std::isnan(*value) ? sign * *value : HUGE_VAL;
  };
  std::stable_sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

void print_comparison(std::ostream& out, const std::vector<RunSummary>& runs, int columns) {
  print_table(out, table_of(runs), columns);
  const auto remarks = remarks_on(runs);
  if (!remarks.empty()) out << '\n';
  for (const auto& remark : remarks) out << remark << '\n';
}

void print_comparison_markdown(std::ostream& out, const std::vector<RunSummary>& runs) {
  print_table_markdown(out, table_of(runs));
  for (const auto& remark : remarks_on(runs)) out << "\n" << remark << '\n';
  out << '\n';
  for (const auto& [name, value] : facts(origin_of(runs)))
    out << "- " << name << ": " << markdown_code(printable(value)) << '\n';
}

void print_comparison_json(std::ostream& out, const std::vector<RunSummary>& runs) {
  nlohmann::ordered_json all{{"runs", nlohmann::ordered_json::array()}, {"provenance", as_json(origin_of(runs))}};
  for (const auto& run : runs) all["runs"].push_back(as_json(run));
  out << all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

namespace {

struct CompareArguments {
  std::vector<std::string> paths;
  std::string sort;
  bool json = false, markdown = false;
};

void run_compare(const CompareArguments& a) {
  std::vector<RunSummary> runs;
  for (const auto& folder : run_folders(a.paths)) runs.push_back(read_run_summary(folder));
  sort_runs(runs, a.sort);
  if (a.json) return print_comparison_json(std::cout, runs);
  if (a.markdown) return print_comparison_markdown(std::cout, runs);
  print_comparison(std::cout, runs, output_columns(0));
}

void add_compare(CLI::App& app) {
  auto* command = app.add_subcommand(
      "compare", "Compare runs in one table: mechanism, parameters, quality, speed: heed compare runs/demo");
  auto a = std::make_shared<CompareArguments>();
  command->add_option("runs", a->paths, "Run folders, or folders that contain run folders")->required();
  command->add_option("--sort", a->sort, "Sort by this column, best first; default: the order given")
      ->check(CLI::IsMember(run_sort_keys()));
  auto* json = command->add_flag("--json", a->json, "Print JSON");
  command->add_flag("--markdown", a->markdown, "Print a Markdown table")->excludes(json);
  command->callback([a] { run_compare(*a); });
}

const Command compare_command{65, add_compare};

}  // namespace
}  // namespace heed::cli
