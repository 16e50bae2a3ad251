#include "apps/cli/explain/comparison.h"

#include <algorithm>
#include <cmath>

#include "apps/cli/screen.h"
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDigits = 3;

std::string without_end_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// With a slash at its end, or empty.
std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);  // npos + 1 is 0
}

const ExplanationResult* result_of(const Explanation& run, const std::string& test) {
  const auto found = std::find_if(run.results.begin(), run.results.end(),
                                  [&](const ExplanationResult& result) { return result.test == test; });
  return found == run.results.end() ? nullptr : &*found;
}

/// Tests that some run has a figure of, in the order of the results, with the name of the figure.
std::vector<std::pair<std::string, std::string>> compared_tests(const std::vector<Explanation>& runs) {
  std::vector<std::pair<std::string, std::string>> tests;
  for (const auto& run : runs)
    for (const auto& result : run.results) {
      const auto same = [&](const auto& one) { return one.first == result.test; };
      const auto figure = main_figure(result);
      if (figure && std::none_of(tests.begin(), tests.end(), same)) tests.emplace_back(result.test, figure->name);
    }
  return tests;
}

std::string sign_of(ExplanationVerdict verdict) {
  return verdict == ExplanationVerdict::speaks_for ? " +" : verdict == ExplanationVerdict::speaks_against ? " -" : "";
}

/// Three digits; a small negative number is 0.
std::string digits(double value) {
  const std::string text = fixed(value, kDigits);
  return text.find_first_not_of("-0.") == std::string::npos && text.front() == '-' ? text.substr(1) : text;
}

Json json_of(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

}  // namespace

std::optional<MainFigure> main_figure(const ExplanationResult& result) {
  if (!result.figure.value || !std::isfinite(*result.figure.value)) return std::nullopt;
  return MainFigure{result.figure_name, result.figure};
}

std::string cell_text(const ExplanationCell& cell, bool interval) {
  const auto known = [](const std::optional<double>& value) { return value && std::isfinite(*value); };
  if (!known(cell.value)) return cell.text.empty() ? "-" : printable(cell.text);
  std::string text = digits(*cell.value);
  if (interval && known(cell.low) && known(cell.high))
    text += " [" + digits(*cell.low) + ", " + digits(*cell.high) + "]";
  return text;
}

std::string common_folder(const std::vector<std::string>& runs) {
  if (runs.empty()) return ".";
  std::string common = parent_of(without_end_slash(runs.front()));
  for (const auto& run : runs)
    while (!common.empty() && !run.starts_with(common))
      common = common == "/" ? "" : parent_of(without_end_slash(common));
  return common.empty() ? "." : without_end_slash(common);
}

std::vector<std::string> short_run_names(const std::vector<Explanation>& runs) {
  std::vector<std::string> names;
  for (const auto& run : runs) names.push_back(without_end_slash(run.run));
  const std::string common = common_folder(names);
  const size_t cut = common == "." ? 0 : common == "/" ? 1 : common.size() + 1;
  for (auto& name : names) name.erase(0, cut);
  return names;
}

Table comparison_table(const std::vector<Explanation>& runs) {
  Table table{{"run", "mechanism"}, {false, false}, {}};
  const auto tests = compared_tests(runs);
  for (const auto& [test, figure] : tests) {
    table.titles.push_back(test + (figure.empty() ? "" : ": " + printable(figure)));
    table.right.push_back(true);
  }
  const auto names = short_run_names(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    std::vector<std::string> row{printable(names[i]), printable(runs[i].mechanism)};
    for (const auto& [test, figure] : tests) {
      const ExplanationResult* const result = result_of(runs[i], test);
      const auto main = result != nullptr ? main_figure(*result) : std::nullopt;
      row.push_back(main ? cell_text(main->cell) + sign_of(result->verdict) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

nlohmann::ordered_json comparison_json(const std::vector<Explanation>& runs) {
  Json rows = Json::array();
  for (const auto& run : runs) {
    Json row{{"run", run.run}, {"mechanism", run.mechanism}, {"tests", Json::object()}};
    for (const auto& result : run.results)
      if (const auto main = main_figure(result))
        row["tests"][result.test] = {{"figure", main->name},
                                     {"value", json_of(main->cell.value)},
                                     {"low", json_of(main->cell.low)},
                                     {"high", json_of(main->cell.high)},
                                     {"verdict", to_string(result.verdict)}};
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace heed::cli
