#include "apps/cli/ablate/page.h"

#include <string_view>

#include "apps/cli/ablate/ablation_table.h"
#include "apps/cli/ablate/plot.h"
#include "apps/cli/html_text.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

// On a narrow screen every row of the table is a block of its own, with the titles of the columns before the values.
constexpr std::string_view kAblationStyle = R"(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #202124; --faint: #5f6368; --line: #d5d8dc; --panel: #f4f5f7; --accent: #1a66c2; }
@media (prefers-color-scheme: dark) { :root { --paper: #15171a; --ink: #e8eaed; --faint: #a5abb1; --line: #3a3e44; --panel: #1f2227; --accent: #7ab4ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 16px 20px; max-width: 1500px; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; }
h1 { font-size: 21px; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 16px; margin: 0 0 4px; }
p { margin: 4px 0 8px; max-width: 90ch; overflow-wrap: anywhere; }
p.about, figcaption, dt { color: var(--faint); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 24px; margin: 18px 0; align-items: start; }
figure { margin: 0; }
figcaption { font-size: 13px; }
svg { display: block; width: 100%; max-width: 620px; height: auto; font: 11px system-ui, "Noto Sans", sans-serif; }
svg text { fill: var(--ink); white-space: pre; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .first { stroke: var(--faint); stroke-width: 1; stroke-dasharray: 3 3; }
svg .range { stroke: var(--accent); stroke-width: 2; }
svg .thin { stroke-width: 1; opacity: .6; }
svg .seed { stroke: var(--ink); stroke-width: 1; }
svg .full { fill: var(--accent); stroke: var(--accent); stroke-width: 1.5; }
svg .hollow { fill: var(--paper); stroke: var(--accent); stroke-width: 1.5; }
.scroll { overflow-x: auto; margin: 0 0 12px; }
table { border-collapse: collapse; font-size: 12.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 6px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th, th.number { color: var(--faint); font-weight: 600; white-space: normal; vertical-align: bottom; }
.number { text-align: right; white-space: nowrap; }
.failed { color: var(--faint); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; font-size: 13px; margin: 12px 0 0; }
dd { margin: 0; overflow-wrap: anywhere; }
@media screen and (max-width: 720px) {
  body { padding: 12px 14px; }
  thead { display: none; }
  table, tbody, tr, td { display: block; width: 100%; }
  tr { border-bottom: 1px solid var(--line); padding: 6px 0; }
  td, .number { display: flex; justify-content: space-between; gap: 12px; border: 0; padding: 1px 0; text-align: right; white-space: normal; }
  td::before { content: attr(data-title); color: var(--faint); text-align: left; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 6px; }
}
@media print {
  :root { --paper: #ffffff; --ink: #000000; --faint: #444444; --line: #bbbbbb; --panel: #ffffff; --accent: #1a66c2; }
  @page { size: A4 landscape; margin: 10mm; }
  body { padding: 0; max-width: none; font-size: 9.5pt; }
  .plots { grid-template-columns: 1fr 1fr; }
  .scroll { overflow: visible; }
  table { font-size: 7pt; }
  th, td { padding: 2px 4px; }
  tr, figure { break-inside: avoid; }
}
)";

std::string html_element(const std::string& name, const std::string& text) {
  return "<" + name + ">" + html_text(text) + "</" + name + ">\n";
}

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

std::string html_figure(const std::string& title, const std::string& plot, const std::string& caption) {
  if (plot.empty()) return "";
  return "<figure>" + html_element("h2", title) + plot + html_element("figcaption", caption) + "</figure>\n";
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
  const std::string title = "Ablation of " + summary.plan.recipe;
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
      html_element("title", title) + "<style>" + std::string(kAblationStyle) + "</style>\n</head>\n<body>\n" +
      html_element("h1", title) + html_about(summary) + html_plots(summary) + html_table(summary);
  for (const auto& note : notes_of(summary)) out += html_element("p", note);
  out += "<dl>\n";
  for (const auto& [name, value] : facts(summary.origin)) out += html_element("dt", name) + html_element("dd", value);
  return out + "</dl>\n</body>\n</html>\n";
}

}  // namespace heed::cli
