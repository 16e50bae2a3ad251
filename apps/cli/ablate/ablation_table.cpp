#include "apps/cli/ablate/ablation_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "apps/cli/amount_text.h"
#include "apps/cli/screen.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"

namespace heed::cli {
namespace {

constexpr size_t kMaxReason = 600;  // characters of a note; results.json has all of the reason

using CellText = std::function<std::string(const CellSummary&)>;

std::string last_step(const std::string& key) {
  return key.substr(key.rfind('.') + 1);
}

std::string runs_text(const CellSummary& cell) {
  std::string text =
      std::to_string(cell.finished) + "/" + std::to_string(cell.finished + cell.left + cell.failures.size());
  return cell.failures.empty() ? text : text + ", " + std::to_string(cell.failures.size()) + " failed";
}

std::string amount(const std::optional<double>& value, std::string (*text)(double)) {
  return value && std::isfinite(*value) ? text(*value) : "-";
}

/// "73.12 to 97.00 %"
std::string interval_text(const Figure& figure, double low, double high, std::string (*text)(const Figure&, double)) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "-";
  const std::string first = text(figure, low);
  return first.substr(0, first.find(' ')) + " to " + text(figure, high);
}

std::string p_text(double p) {
  return std::isfinite(p) ? fixed(p, 3) : "-";
}

/// A note for each reason why runs of a cell failed.
void add_failures(std::vector<std::string>& notes, const CellSummary& cell) {
  std::map<std::string, std::vector<std::string>> runs;
  for (const auto& [run, reason] : cell.failures) runs[reason].push_back(run);
  for (const auto& [reason, titles] : runs) {
    std::string note = cell.cell.name;
    note.append(": ").append(std::to_string(titles.size())).append(" runs");
    if (titles.size() == 1) note = titles.front();
    notes.push_back(excerpt(note.append(" failed: ").append(reason), kMaxReason));
  }
}

/// Adds a column unless it would be empty.
class TableColumns {
 public:
  explicit TableColumns(const AblationSummary& summary) : summary_(summary) {
    table_.rows.resize(summary.cells.size());
  }

  void add(const std::string& title, bool right, const CellText& text) {
    std::vector<std::string> cells;
    for (const auto& cell : summary_.cells) cells.push_back(text(cell));
    if (std::all_of(cells.begin(), cells.end(), [](const auto& one) { return one == "-"; })) return;
    table_.titles.push_back(title);
    table_.right.push_back(right);
    for (size_t i = 0; i < cells.size(); ++i) table_.rows[i].push_back(cells[i]);
  }
  Table table() const { return table_; }

 private:
  const AblationSummary& summary_;
  Table table_;
};

void add_quality(TableColumns& columns, const AblationSummary& summary) {
  const Figure& figure = summary.figures.front();
  const auto seeds = [](const CellSummary& cell) -> const SeedFigures& { return cell.figures.front(); };
  columns.add(figure_title(figure), true, [=](const auto& cell) { return figure_text(figure, seeds(cell).mean); });
  columns.add("deviation", true, [=](const auto& cell) { return figure_text(figure, seeds(cell).deviation); });
  columns.add("95 % over seeds", true,
              [=](const auto& cell) { return interval_text(figure, seeds(cell).low, seeds(cell).high, figure_text); });
  columns.add("to first row", true, [=](const CellSummary& cell) {
    return cell.difference ? difference_text(figure, cell.difference->mean) : "-";
  });
  columns.add("95 % of it over seeds", true, [=](const CellSummary& cell) {
    return cell.difference ? interval_text(figure, cell.difference->low, cell.difference->high, difference_text) : "-";
  });
  columns.add("95 % of it over " + std::string(figure.key == "bleu" ? "sentences" : "examples"), true,
              [=](const CellSummary& cell) {
                if (!cell.against_first) return std::string("-");
                const Interval& interval = *cell.against_first->interval;
                return interval_text(figure, interval.low, interval.high, difference_text);
              });
  columns.add("p (Holm)", true,
              [](const CellSummary& cell) { return cell.against_first ? p_text(cell.against_first->p_holm) : "-"; });
}

}  // namespace

Table table_of(const AblationSummary& summary) {
  TableColumns columns(summary);
  for (size_t i = 0; i < summary.plan.axes.size(); ++i)
    columns.add(printable(last_step(summary.plan.axes[i].key)), false,
                [i](const CellSummary& cell) { return printable(cell.cell.values[i]); });
  columns.add("runs", false, runs_text);
  if (!summary.figures.empty()) add_quality(columns, summary);
  for (size_t i = 1; i < summary.figures.size(); ++i)
    columns.add(figure_title(summary.figures[i]), true, [&summary, i](const CellSummary& cell) {
      return figure_text(summary.figures[i], cell.figures[i].mean);
    });
  columns.add("parameters", true, [](const CellSummary& cell) { return amount(cell.parameters, with_commas); });
  columns.add("tokens/s", true, [](const CellSummary& cell) { return amount(cell.tokens_per_second, with_commas); });
  columns.add("peak memory", true, [](const CellSummary& cell) { return amount(cell.peak_memory, megabytes); });
  columns.add("training", true, [](const CellSummary& cell) { return amount(cell.train_seconds, duration); });
  return columns.table();
}

std::vector<std::string> notes_of(const AblationSummary& summary) {
  std::vector<std::string> notes;
  const bool tested = std::any_of(summary.cells.begin(), summary.cells.end(),
                                  [](const auto& cell) { return cell.against_first.has_value(); });
  if (!summary.figures.empty() && summary.plan.seeds.size() > 1)
    notes.push_back("Means of " + std::to_string(summary.plan.seeds.size()) +
                    " seeds. \"over seeds\": Student's t intervals of the mean and of the difference by seed, for new "
                    "seeds on the same set.");
  if (tested)
    notes.push_back("Tests against the first row: paired bootstrap of " + std::to_string(summary.resampling.samples) +
                    " samples, which draw " + (summary.figures.front().key == "bleu" ? "sentences" : "examples") +
                    "; scores are means over the seeds. p after Holm's correction over all rows.");
  if (summary.gold)
    notes.push_back("Attention against " + printable(summary.gold->options) + ", md5 " + summary.gold->md5 + ".");
  for (const auto& cell : summary.cells) add_failures(notes, cell);
  for (const auto& cell : summary.cells)
    for (const auto& [run, reason] : cell.unmeasured)
      notes.push_back(printable(excerpt("the attention of " + run + " is not measured: " + reason, kMaxReason)));
  for (const auto& remark : summary.remarks) notes.push_back(printable(remark));
  if (const size_t left = summary.count(&CellSummary::left); left > 0)
    notes.push_back(std::to_string(left) + " runs are not finished; the same command goes on with them");
  return notes;
}

void print_ablation(std::ostream& out, const AblationSummary& summary, int columns) {
  print_table(out, table_of(summary), columns);
  const auto notes = notes_of(summary);
  if (!notes.empty()) out << '\n';
  for (const auto& note : notes) out << note << '\n';
}

void print_ablation_markdown(std::ostream& out, const AblationSummary& summary) {
  out << "# Ablation of " << markdown_cell(printable(summary.plan.recipe)) << "\n\n";
  print_table_markdown(out, table_of(summary));
  for (const auto& note : notes_of(summary)) out << "\n" << note << '\n';
  out << '\n';
  for (const auto& [name, value] : facts(summary.origin))
    out << "- " << name << ": " << markdown_code(printable(value)) << '\n';
}

}  // namespace heed::cli
