#include "apps/cli/explain/terminal.h"

#include <algorithm>
#include <sstream>

#include "apps/cli/explain/comparison.h"
#include "apps/cli/program_name.h"
#include "apps/cli/screen.h"
#include "apps/cli/table.h"

#include "heed/base/check.h"
#include "heed/base/shell.h"

namespace heed::cli {
namespace {

constexpr int kMaxWidth = 100;  // of sentences

std::string with_spaces(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string counts_text(const ExplanationResult& result) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : result.counts)
    if (count > 0) parts.push_back(std::to_string(count) + " " + with_spaces(name));
  return joined(parts);
}

std::string said(ExplanationVerdict verdict) {
  return verdict == ExplanationVerdict::speaks_for       ? "for the weights as an explanation"
         : verdict == ExplanationVerdict::speaks_against ? "against the weights as an explanation"
                                                         : "neither for nor against";
}

Table table_of(const ExplanationTable& found, bool intervals) {
  Table table{found.columns, {}, {}};
  if (table.titles.empty()) table.titles.emplace_back();
  table.right.assign(table.titles.size(), true);
  table.right.front() = false;
  for (auto& title : table.titles) title = printable(title);
  for (const auto& row : found.rows) {
    std::vector<std::string> cells{printable(row.name)};
    for (const auto& cell : row.cells) cells.push_back(cell_text(cell, intervals));
    cells.resize(table.titles.size());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

int width_of(const Table& table) {
  constexpr int kBetween = 2;  // columns
  int all = -kBetween;
  for (size_t i = 0; i < table.titles.size(); ++i) {
    int width = display_width(table.titles[i]);
    for (const auto& row : table.rows) width = std::max(width, display_width(row[i]));
    all += width + kBetween;
  }
  return all;
}

/// Removes the last columns until the table fits. Returns their titles.
std::vector<std::string> remove_columns(Table& table, int columns) {
  constexpr size_t kMinColumns = 2;
  std::vector<std::string> removed;
  while (table.titles.size() > kMinColumns && width_of(table) > columns) {
    removed.insert(removed.begin(), table.titles.back());
    table.titles.pop_back();
    table.right.pop_back();
    for (auto& row : table.rows) row.pop_back();
  }
  return removed;
}

bool has_intervals(const ExplanationTable& table) {
  for (const auto& row : table.rows)
    for (const auto& cell : row.cells)
      if (cell_text(cell, /*interval=*/true) != cell_text(cell, /*interval=*/false)) return true;
  return false;
}

/// Without intervals where they do not fit, and without the last columns where values alone do not. Returns whether
/// intervals are printed.
bool print_table_of(std::ostream& out, const ExplanationTable& found, int columns) {
  if (found.rows.empty()) return false;
  Table table = table_of(found, /*intervals=*/true);
  std::vector<std::string> removed;
  const bool fits = columns <= 0 || width_of(table) <= columns;
  if (!fits) {
    table = table_of(found, /*intervals=*/false);
    removed = remove_columns(table, columns);
  }
  out << '\n';
  if (!found.title.empty()) out << wrapped(found.title, columns) << '\n';
  print_table(out, table, columns);
  if (!removed.empty()) out << wrapped("(in the page: " + joined(removed) + ")", columns) << '\n';
  return fits && has_intervals(found);
}

/// noted: whether it is said what brackets are.
void print_result(std::ostream& out, const ExplanationResult& result, int columns, bool& noted) {
  const std::string paper = result.paper.empty() ? "" : " (" + result.paper + ")";
  out << '\n' << wrapped(result.test + ": " + result.title + paper, columns) << '\n';
  if (!result.not_run.empty()) {
    out << wrapped("not run: " + result.not_run, columns, "  ") << '\n';
    return;
  }
  if (!result.tables.empty() && print_table_of(out, result.tables.front(), columns) && !noted) {
    out << wrapped(interval_note(), columns) << '\n';
    noted = true;
  }
  out << '\n';
  out << wrapped(said(result.verdict) + (result.finding.empty() ? "" : ": " + result.finding), columns, "  ") << '\n';
  if (const std::string counts = counts_text(result); !counts.empty()) out << wrapped(counts, columns, "  ") << '\n';
}

bool among(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

std::string wrapped(const std::string& text, int columns, const std::string& indent) {
  const std::string shown = printable(text);
  if (columns <= 0) return indent + shown;
  const int width = std::max(std::min(columns, kMaxWidth) - static_cast<int>(indent.size()), 20);
  std::istringstream words(shown);
  std::string all, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      all += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return all + indent + line;
}

void print_explanation(std::ostream& out, const Explanation& explanation, const std::vector<std::string>& tests,
                       int columns) {
  const std::string of_set = explanation.set.empty() ? "" : " of " + explanation.set;
  out << wrapped(explanation.run + ": " + explanation.mechanism + ", " + std::to_string(explanation.texts) + " texts" +
                     of_set,
                 columns)
      << '\n';
  std::vector<std::string> kept;
  bool noted = false;
  for (const auto& result : explanation.results) {
    if (among(tests, result.test))
      print_result(out, result, columns, noted);
    else
      kept.push_back(result.test);
  }
  out << '\n';
  if (!kept.empty()) out << wrapped("from earlier calls: " + joined(kept), columns) << '\n';
  out << wrapped(short_verdict(explanation), columns) << '\n' << wrapped(explanation_caution(), columns) << '\n';
}

std::string interval_note() {
  return "in brackets: 95 % intervals by bootstrap over texts";
}

std::vector<std::string> with_tests(std::vector<std::string> arguments, const std::string& tests) {
  const std::string option = "--tests";
  const auto at = std::find_if(arguments.begin(), arguments.end(), [&](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
  if (at == arguments.end()) {
    arguments.insert(arguments.end(), {option, tests});
  } else if (*at != option) {
    *at = option + "=" + tests;
  } else if (at + 1 != arguments.end()) {
    *(at + 1) = tests;
  }
  return arguments;
}

std::vector<std::string> next_commands(const Explanation& explanation, const std::vector<std::string>& more) {
  const std::string run = quoted_for_shell(explanation.run);
  std::vector<std::string> commands;
  std::string call = "{}";
  for (const auto& word : more) call += " " + quoted_for_shell(word);
  if (!more.empty()) commands.push_back(pasteable(call));
  for (const auto& result : explanation.results)
    for (const auto& example : result.examples) {
      if (example.tokens.empty()) continue;
      const std::string option = explanation.task == "translate" ? " --source " : " --text ";
      commands.push_back(pasteable("{} attend " + run + option + quoted_for_shell(joined(example.tokens, " "))));
      return commands;
    }
  return commands;
}

}  // namespace heed::cli
