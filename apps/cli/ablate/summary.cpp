#include "apps/cli/ablate/summary.h"

#include <algorithm>
#include <set>

#include "apps/cli/ablate/outputs.h"
#include "apps/cli/ablate/run_state.h"
#include "apps/cli/compare.h"
#include "apps/cli/screen.h"
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/data/file.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A run that has finished.
struct FinishedRun {
  GridRun run;
  Json results;  // of results.json, and "attention": figures against gold
  RunSummary summary;
};

std::vector<FinishedRun> finished_runs(const Plan& plan, const std::string& folder) {
  std::vector<FinishedRun> all;
  for (const auto& run : runs_of(plan, folder))
    if (state_of(run) == RunState::finished)
      all.push_back({run, Json::parse(read_file(run.folder + "/results.json")), read_run_summary(run.folder)});
  return all;
}

/// Adds the figures against gold to the results of the runs, and to the cells why there are none.
void add_attention(AblationSummary& summary, std::vector<FinishedRun>& runs) {
  size_t left = 0;
  for (auto& one : runs) {
    one.results["attention"] = Json::object();
    if (!summary.gold) continue;
    const auto found = measured_attention(one.run, *summary.gold);
    one.results["attention"] = found.figures;
    if (!found.failure.empty())
      summary.cells[one.run.cell].unmeasured.emplace_back(one.run.title, found.failure);
    else if (!found.measured)
      ++left;
  }
  if (left > 0)
    summary.remarks.push_back("the attention of " + std::to_string(left) + " runs is not measured yet; --attention '" +
                              summary.gold->options + "' does it");
}

std::optional<double> mean_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

void add_figures(CellSummary& cell, const std::vector<Figure>& figures, const std::vector<FinishedRun>& runs) {
  for (const auto& figure : figures) {
    std::map<int64_t, double> values;
    for (const auto& one : runs) {
      const Json report = one.results.value(figure.set, Json::object());
      if (report.contains(figure.key) && report[figure.key].is_number()) values[one.run.seed] = report[figure.key];
    }
    cell.figures.push_back(bounded(seed_figures(values), figure));
  }
}

void add_costs(CellSummary& cell, const std::vector<FinishedRun>& runs) {
  std::vector<double> parameters, speeds, seconds, peaks;
  for (const auto& one : runs) {
    const auto add = [](std::vector<double>& all, const std::optional<double>& value) {
      if (value) all.push_back(*value);
    };
    add(parameters, one.summary.parameters);
    add(speeds, one.summary.tokens_per_second);
    add(seconds, one.summary.seconds);
    add(peaks, one.summary.peak_memory);
  }
  cell.parameters = mean_of(parameters);
  cell.tokens_per_second = mean_of(speeds);
  cell.train_seconds = mean_of(seconds);
  if (!peaks.empty()) cell.peak_memory = *std::max_element(peaks.begin(), peaks.end());
}

std::vector<FinishedRun> of_cell(const std::vector<FinishedRun>& runs, size_t cell) {
  std::vector<FinishedRun> all;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(all),
               [&](const auto& one) { return one.run.cell == cell; });
  return all;
}

void add_cells(AblationSummary& summary, const std::vector<FinishedRun>& finished) {
  for (const auto& run : runs_of(summary.plan, summary.folder)) {
    CellSummary& cell = summary.cells[run.cell];
    const RunState state = state_of(run);
    if (state == RunState::failed)
      cell.failures.emplace_back(run.title, failure_of(run)->reason);
    else
      ++(state == RunState::finished ? cell.finished : cell.left);
  }
  for (size_t i = 0; i < summary.cells.size(); ++i) {
    const auto runs = of_cell(finished, i);
    add_figures(summary.cells[i], summary.figures, runs);
    add_costs(summary.cells[i], runs);
  }
}

/// The statistics of a cell's finished runs, by seed.
std::map<int64_t, Statistics> outputs_of(RunOutputs& outputs, const std::vector<FinishedRun>& runs) {
  std::map<int64_t, Statistics> all;
  for (const auto& one : runs) all.emplace(one.run.seed, outputs.read(one.run.folder));
  return all;
}

/// The md5 of the texts that a run was judged on, by name without that of a file: "data.test", "data.test (source".
std::map<std::string, std::string> judged_data(const FinishedRun& one, const std::string& set) {
  std::map<std::string, std::string> all;
  const std::string prefix = "data." + set;
  const Json hashes = one.results.value("data", Json::object());
  for (const auto& [name, hash] : hashes.items())
    if (hash.is_string() && (name == prefix || name.starts_with(prefix + " (")))
      all[name.substr(0, name.find_first_of(",)"))] = hash;
  return all;
}

/// The first of the runs that was judged on other texts than the first run of all, and the two md5; empty: none was.
std::string judged_on_others(const FinishedRun& first, const std::vector<FinishedRun>& runs, const std::string& set) {
  const auto expected = judged_data(first, set);
  const auto text_of = [](const std::map<std::string, std::string>& hashes) {
    std::vector<std::string> all;
    for (const auto& [name, hash] : hashes) all.push_back(hash);
    return all.empty() ? "unknown" : joined(all, " and ");
  };
  for (const auto& one : runs)
    if (const auto got = judged_data(one, set); got != expected)
      return "the " + set + " set of " + one.run.title + " has md5 " + text_of(got) + ", that of " + first.run.title +
             " " + text_of(expected);
  return "";
}

/// Compares a cell with the first one over the seeds that both have.
void compare_with_first(CellSummary& cell, const std::map<int64_t, Statistics>& first,
                        const std::map<int64_t, Statistics>& own, const ResamplingOptions& options) {
  std::vector<Statistics> theirs, ours;
  for (const auto& [seed, statistics] : first) {
    const auto found = own.find(seed);
    if (found == own.end()) continue;
    theirs.push_back(statistics);
    ours.push_back(found->second);
  }
  if (ours.empty()) return;
  cell.against_first = paired_bootstrap(resampled({over_seeds(theirs), over_seeds(ours)}), options).front();
}

/// The differences of a cell's main figure to that of the first one.
std::optional<SeedFigures> difference_to(const CellSummary& first, const CellSummary& cell, const Figure& figure) {
  std::map<int64_t, double> values;
  for (const auto& [seed, value] : cell.figures.front().values)
    if (const auto other = first.figures.front().values.find(seed); other != first.figures.front().values.end())
      values[seed] = value - other->second;
  return values.empty() ? std::nullopt : std::optional(bounded_difference(seed_figures(values), figure));
}

/// Names the rows that are compared over too few seeds.
void remark_on_few_seeds(AblationSummary& summary) {
  constexpr size_t kFew = 3;
  std::map<size_t, std::vector<std::string>> rows;  // by the number of seeds
  size_t compared = 0;
  for (const auto& cell : summary.cells) {
    if (!cell.difference) continue;
    ++compared;
    if (const size_t seeds = cell.difference->values.size(); seeds < kFew) rows[seeds].push_back(cell.cell.name);
  }
  for (const auto& [seeds, names] : rows)
    summary.remarks.push_back(
        (names.size() == compared ? "rows are" : joined(names) + (names.size() == 1 ? " is" : " are")) +
        " compared with the first over " + (seeds == 1 ? "1 seed" : std::to_string(seeds) + " seeds") +
        ", fewer than 3: a difference may be one of the seeds");
}

/// Holm's correction over all comparisons.
void correct(std::vector<CellSummary>& cells) {
  std::vector<double> p;
  for (const auto& cell : cells)
    if (cell.against_first) p.push_back(cell.against_first->p);
  const auto adjusted = holm(p);
  size_t next = 0;
  for (auto& cell : cells)
    if (cell.against_first) cell.against_first->p_holm = adjusted[next++];
}

/// The cells whose runs were judged on the texts of the first row. The others get a remark.
std::vector<size_t> comparable_cells(AblationSummary& summary, const std::vector<FinishedRun>& finished) {
  std::vector<size_t> all;
  const auto first = of_cell(finished, 0);
  for (size_t i = 1; i < summary.cells.size(); ++i) {
    auto runs = of_cell(finished, i);
    if (runs.empty()) continue;
    runs.insert(runs.begin(), first.begin(), first.end());
    const std::string others = judged_on_others(first.front(), runs, summary.figures.front().set);
    if (others.empty())
      all.push_back(i);
    else
      summary.remarks.push_back("no test of " + summary.cells[i].cell.name + ": " + others);
  }
  return all;
}

void add_tests(AblationSummary& summary, const std::vector<FinishedRun>& finished) {
  if (summary.figures.empty() || summary.cells.size() < 2) return;
  if (summary.cells.front().finished == 0) {
    summary.remarks.emplace_back("no tests: no run of the first row has finished");
    return;
  }
  const auto comparable = comparable_cells(summary, finished);
  for (const size_t i : comparable)
    summary.cells[i].difference = difference_to(summary.cells.front(), summary.cells[i], summary.figures.front());
  remark_on_few_seeds(summary);
  try {
    RunOutputs outputs(summary.figures.front());
    const auto first = outputs_of(outputs, of_cell(finished, 0));
    for (const size_t i : comparable)
      compare_with_first(summary.cells[i], first, outputs_of(outputs, of_cell(finished, i)), summary.resampling);
    correct(summary.cells);
  } catch (const std::exception& error) {
    for (auto& cell : summary.cells) cell.against_first.reset();
    summary.remarks.push_back(std::string("no tests: ") + error.what());
  }
}

void add_names_of_figures(AblationSummary& summary, const std::vector<FinishedRun>& finished) {
  if (finished.empty()) return;
  summary.figures = main_figures(finished.front().results);
  Json measured = Json::object();
  for (const auto& one : finished) measured.update(one.results["attention"]);
  if (summary.figures.empty()) return;
  const auto gold = gold_figures(measured);
  summary.figures.insert(summary.figures.end(), gold.begin(), gold.end());
}

/// A remark if a value that should be equal in all runs is not.
void remark_on(AblationSummary& summary, const std::set<std::string>& values, const std::string& remark) {
  if (values.size() < 2) return;
  summary.remarks.push_back(remark + ": " + joined({values.begin(), values.end()}));
}

void add_remarks(AblationSummary& summary, const std::vector<FinishedRun>& finished) {
  std::set<std::string> machines;
  std::map<int64_t, std::set<std::string>> steps;  // by seed, which decides what the batches are
  std::map<std::string, std::set<std::string>> comparables;
  for (const auto& one : finished) {
    steps[one.run.seed].insert(std::to_string(static_cast<int64_t>(one.summary.step.value_or(0))));
    machines.insert(one.summary.machine);
    for (const auto& [name, value] : one.summary.comparables) comparables[name].insert(value);
  }
  for (const auto& [name, hashes] : summary.origin.data)
    remark_on(summary, hashes, "the runs read different data, " + name);
  for (const auto& [name, values] : comparables) remark_on(summary, values, "the runs cannot be compared, " + name);
  for (const auto& [seed, counts] : steps)
    remark_on(summary, counts, "the runs with seed " + std::to_string(seed) + " have different numbers of steps");
  remark_on(summary, machines, "the runs were trained on different devices or numbers of threads");
}

}  // namespace

std::vector<int64_t> CellSummary::compared_seeds() const {
  std::vector<int64_t> seeds;
  if (difference)
    for (const auto& [seed, value] : difference->values) seeds.push_back(seed);
  return seeds;
}

bool CellSummary::differs_from_first() const {
  const auto leaves_out_0 = [](double low, double high) { return low > 0 || high < 0; };  // false for NaN
  return against_first && difference && against_first->p_holm < 0.05 &&
         leaves_out_0(against_first->interval->low, against_first->interval->high) &&
         leaves_out_0(difference->low, difference->high);
}

size_t AblationSummary::count(size_t CellSummary::*what) const {
  size_t sum = 0;
  for (const auto& cell : cells) sum += cell.*what;
  return sum;
}

size_t AblationSummary::failures() const {
  size_t sum = 0;
  for (const auto& cell : cells) sum += cell.failures.size();
  return sum;
}

size_t AblationSummary::unmeasured() const {
  size_t sum = 0;
  for (const auto& cell : cells) sum += cell.unmeasured.size();
  return sum;
}

AblationSummary summarize(const Plan& plan, const std::string& folder) {
  AblationSummary summary{.plan = plan, .folder = folder, .gold = read_attention_gold(folder), .origin = provenance()};
  for (const auto& cell : plan.cells) summary.cells.push_back({.cell = cell});
  auto finished = finished_runs(plan, folder);
  add_attention(summary, finished);
  add_names_of_figures(summary, finished);
  for (const auto& one : finished) summary.origin.add_runs(one.summary.origin);
  add_cells(summary, finished);
  add_tests(summary, finished);
  add_remarks(summary, finished);
  return summary;
}

}  // namespace heed::cli
