#include "apps/cli/ablate/page.h"

#include <string_view>

#include "apps/cli/ablate/ablation_table.h"
#include "apps/cli/ablate/plot.h"
#include "apps/cli/html_page.h"
#include "apps/cli/html_text.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

// On a narrow screen every row of the table is a block of its own, with the titles of the columns before the values.
constexpr std::string_view kAblationStyle = R"(
svg .first { stroke: var(--faint); stroke-width: 1; stroke-dasharray: 3 3; }
svg .range { stroke: var(--accent); stroke-width: 2; }
svg .thin { stroke-width: 1; opacity: .6; }
svg .seed { stroke: var(--ink); stroke-width: 1; }
svg .full { fill: var(--accent); stroke: var(--accent); stroke-width: 1.5; }
svg .hollow { fill: var(--paper); stroke: var(--accent); stroke-width: 1.5; }
th, th.number { color: var(--faint); font-weight: 600; white-space: normal; vertical-align: bottom; }
.number { text-align: right; white-space: nowrap; }
.failed { color: var(--faint); }
@media screen and (max-width: 720px) {
  thead { display: none; }
  table, tbody, tr, td { display: block; width: 100%; }
  tr { border-bottom: 1px solid var(--line); padding: 6px 0; }
  td, .number { display: flex; justify-content: space-between; gap: 12px; border: 0; padding: 1px 0; text-align: right; white-space: normal; }
  td::before { content: attr(data-title); color: var(--faint); text-align: left; }
}
@media print {
  @page { size: A4 landscape; margin: 10mm; }
  .plots { grid-template-columns: 1fr 1fr; }
  table { font-size: 7pt; }
  th, td { padding: 2px 4px; }
}
)";

std::string html_table(const AblationSummary& summary) {
  const Table table = table_of(summary);
  const auto kind = [&](size_t column) { return table.right[column] ? " class=\"number\"" : ""; };
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr><th>row</th>";
  for (size_t j = 0; j < table.titles.size(); ++j)
    out += "<th" + std::string(kind(j)) + ">" + html_text(table.titles[j]) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < table.rows.size(); ++i) {
    out += summary.cells[i].finished == 0 ? "<tr class=\"failed\">" : "<tr>";
    out += "<td data-title=\"row\">" + std::to_string(i + 1) + "</td>";
    for (size_t j = 0; j < table.rows[i].size(); ++j)
      out += "<td" + std::string(kind(j)) + " data-title=\"" + html_text(table.titles[j]) + "\">" +
             html_text(table.rows[i][j]) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string html_plots(const AblationSummary& summary) {
  if (summary.figures.empty()) return "";
  const std::string quality = figure_title(summary.figures.front());
  const std::string better = summary.figures.front().higher_is_better ? "higher is better" : "lower is better";
  return "<div class=\"plots\">\n" +
         html_figure(
             quality + ", " + better, quality_plot(summary),
             "Dot: mean of the seeds; full if both 95 % intervals of its difference to the first row, over examples "
             "and "
             "over seeds, leave out 0, and p < 0.05 after Holm's correction. Short lines: the seeds. Long line: 95 % "
             "interval of the mean over seeds. Dashed: the first row.") +
         html_figure(quality + " and speed", speed_plot(summary),
                     "Numbers are rows of the table. Tokens per second of training, measured while as many runs as "
                     "fit on the machine were at work.") +
         "</div>\n";
}

std::string html_about(const AblationSummary& summary) {
  std::vector<std::string> varied;
  for (const auto& axis : summary.plan.axes) varied.push_back(axis.key);
  std::string text = "Varied: " + joined(varied) + ". " + std::to_string(summary.cells.size()) + " cells x " +
                     std::to_string(summary.plan.seeds.size()) +
                     " seeds, with equal data and budget: " + std::to_string(summary.count(&CellSummary::finished)) +
                     " runs finished";
  if (const size_t failed = summary.failures(); failed > 0) text += ", " + std::to_string(failed) + " failed";
  if (const size_t left = summary.count(&CellSummary::left); left > 0) text += ", " + std::to_string(left) + " left";
  if (!summary.plan.overrides.empty()) text += ". Overrides: " + joined(summary.plan.overrides, " ");
  return "<p class=\"about\">" + html_text(text) + ".</p>\n";
}

}  // namespace

std::string ablation_page(const AblationSummary& summary) {
  std::string body = html_about(summary) + html_plots(summary) + html_table(summary);
  for (const auto& note : notes_of(summary)) body += html_element("p", note);
  return html_document("Ablation of " + summary.plan.recipe, std::string(kAblationStyle),
                       body + html_facts(facts(summary.origin)));
}

}  // namespace heed::cli
