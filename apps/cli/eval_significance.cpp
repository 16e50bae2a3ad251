#include "apps/cli/eval_significance.h"

#include <cmath>

#include "apps/cli/screen.h"
#include "apps/cli/table.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

constexpr int kPDigits = 4;

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "no score";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  return fixed(value, digits);
}

std::string range_text(const Interval& interval, int digits) {
  if (std::isnan(interval.low)) return "no score";
  return number_text(interval.low, digits) + " to " + number_text(interval.high, digits);
}

std::string signed_text(double value, int digits) {
  return (value > 0 ? "+" : "") + number_text(value, digits);
}

std::string p_text(double p) {
  return std::isnan(p) ? "-" : fixed(p, kPDigits);
}

std::string confidence_text(const ResamplingOptions& resampling) {
  constexpr double kPercent = 100;
  return fixed(kPercent * resampling.confidence, 0) + " %";
}

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

void add_column(Table& table, const std::string& title, const std::vector<std::string>& cells) {
  table.titles.push_back(title);
  table.right.push_back(true);
  for (size_t i = 0; i < cells.size(); ++i) table.rows[i].push_back(cells[i]);
}

/// Cells of the comparisons, with an empty one for the first system.
template <typename Cell>
std::vector<std::string> cells_of(const std::vector<Comparison>& comparisons, const Cell& cell) {
  std::vector<std::string> all{""};
  for (const auto& one : comparisons) all.push_back(cell(one));
  return all;
}

void add_comparisons(Table& table, const std::vector<Comparison>& comparisons, int digits) {
  add_column(table, "difference",
             cells_of(comparisons, [&](const Comparison& one) { return signed_text(one.difference, digits); }));
  if (comparisons[0].interval)
    add_column(table, "its interval",
               cells_of(comparisons, [&](const Comparison& one) { return range_text(*one.interval, digits); }));
  add_column(table, "p", cells_of(comparisons, [](const Comparison& one) { return p_text(one.p); }));
  if (comparisons.size() > 1)
    add_column(table, "p (Holm)", cells_of(comparisons, [](const Comparison& one) { return p_text(one.p_holm); }));
}

}  // namespace

Significance significance(const Measured& measured, const SignificanceOptions& options) {
  if (!options.any()) return {};
  const MetricFigure& figure = measured.figures.front();
  check(measured.resampled != nullptr, "eval: got ", options.intervals ? "--intervals" : "--paired", " for ",
        figure.key, ", which cannot be resampled; leave it out of --metrics");
  check(measured.items >= 2, "eval: ", figure.key, ": got ", measured.items, ", expected at least 2 ", measured.unit,
        " to draw samples from; leave out --intervals and --paired");
  const Resampled outputs = measured.resampled();
  Significance found;
  SampleScores samples;
  if (options.intervals || options.paired == "bootstrap") samples = bootstrap_scores(outputs, options.resampling);
  if (options.intervals)
    for (const auto& scores : samples)
      found.intervals.push_back(confidence_interval(scores, options.resampling.confidence));
  if (options.paired == "bootstrap") found.comparisons = paired_bootstrap_of(outputs, samples, options.resampling);
  if (options.paired == "randomization") found.comparisons = paired_randomization(outputs, options.resampling);
  return found;
}

void print_systems(std::ostream& out, const std::vector<std::string>& systems, const Measured& measured,
                   const Significance& found, int digits, int columns) {
  Table table{{"system"}, {false}, {}};
  for (const auto& system : systems) table.rows.push_back({printable(system)});
  std::vector<std::string> scores, ranges;
  for (const auto& figure : measured.figures) scores.push_back(number_text(figure.score, digits));
  add_column(table, measured.figures.front().name, scores);
  for (const auto& interval : found.intervals) ranges.push_back(range_text(interval, digits));
  if (!ranges.empty()) add_column(table, "interval", ranges);
  if (!found.comparisons.empty()) add_comparisons(table, found.comparisons, digits);
  out << measured.figures.front().name << '|' << measured.figures.front().signature << '\n';
  print_table(out, table, columns);
  if (measured.left_out > 0)
    out << measured.left_out << " of " << measured.items << ' ' << measured.unit
        << " have no score in at least one system and are left out of all\n";
  const auto remark = [&](int64_t undefined, const std::string& system) {
    if (undefined > 0) out << printable(system) << ": " << undefined << " samples have no score and are left out\n";
  };
  for (size_t i = 0; i < found.intervals.size(); ++i) remark(found.intervals[i].undefined, systems[i]);
  if (found.intervals.empty())
    for (size_t i = 0; i < found.comparisons.size(); ++i) remark(found.comparisons[i].undefined, systems[i + 1]);
}

std::vector<std::string> notes_on(const SignificanceOptions& options, const std::vector<std::string>& systems,
                                  const Measured& measured) {
  if (!options.any()) return {};
  const auto& of = options.resampling;
  const std::string samples = std::to_string(of.samples) + " samples of " + std::to_string(measured.items) + " " +
                              measured.unit + ", seed " + std::to_string(of.seed);
  std::vector<std::string> all;
  if (options.intervals) all.push_back("interval: " + confidence_text(of) + ", bootstrap, " + samples);
  if (options.paired.empty()) return all;
  all.push_back("p: " + std::string(options.paired == "bootstrap" ? "paired bootstrap" : "approximate randomization") +
                " against " + printable(systems.front()) + ", " + samples);
  if (systems.size() > 2)
    all.push_back("p (Holm): after Holm's correction for " + std::to_string(systems.size() - 1) + " comparisons");
  return all;
}

nlohmann::ordered_json as_json(const Interval& interval) {
  return {{"mean", number_or_null(interval.mean)},
          {"low", number_or_null(interval.low)},
          {"high", number_or_null(interval.high)},
          {"undefined_samples", interval.undefined}};
}

nlohmann::ordered_json as_json(const Comparison& comparison) {
  nlohmann::ordered_json all{{"difference", number_or_null(comparison.difference)},
                             {"p", number_or_null(comparison.p)},
                             {"p_holm", number_or_null(comparison.p_holm)},
                             {"undefined_samples", comparison.undefined}};
  if (comparison.interval) all["interval"] = as_json(*comparison.interval);
  return all;
}

nlohmann::ordered_json as_json(const SignificanceOptions& options) {
  nlohmann::ordered_json all{{"samples", options.resampling.samples},
                             {"seed", options.resampling.seed},
                             {"confidence", options.resampling.confidence}};
  if (!options.paired.empty()) all["paired"] = options.paired;
  return all;
}

}  // namespace heed::cli
