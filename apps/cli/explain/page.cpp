#include "apps/cli/explain/page.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "apps/cli/amount_text.h"
#include "apps/cli/explain/comparison.h"
#include "apps/cli/explain/example.h"
#include "apps/cli/explain/number.h"
#include "apps/cli/explain/plot.h"
#include "apps/cli/html_page.h"
#include "apps/cli/html_text.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

// Tables with figures scroll inside their box, below a first column that stays; that of the tests becomes blocks on a
// narrow screen.
constexpr std::string_view kExplanationStyle = R"(
body { max-width: 1100px; }
h2 { font-size: 18px; margin: 30px 0 4px; padding-top: 10px; border-top: 1px solid var(--line); break-after: avoid; }
h3 { font-size: 15px; margin: 18px 0 4px; break-after: avoid; }
h2 small, h3 small { color: var(--faint); font-weight: normal; font-size: 13px; }
figure h2 { font-size: 14px; margin: 0 0 4px; padding: 0; border: 0; }
a { color: var(--accent); }
.verdict { font-size: 17px; border-left: 4px solid var(--accent); padding: 2px 0 2px 12px; margin: 12px 0; }
.tag { display: inline-block; border: 1px solid var(--ink); border-radius: 4px; padding: 0 6px; font-size: 12px; font-weight: 600; white-space: nowrap; }
.tag.for { background: #d7ecd9; color: #0b3d14; border-style: solid; }
.tag.against { background: #f9dcc4; color: #5a2600; border-style: double; border-width: 3px; }
.tag.neither { background: transparent; border-style: dashed; font-weight: normal; }
.tag.not_run { background: transparent; border-color: var(--line); color: var(--faint); font-weight: normal; }
.tag { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
.caption { font-size: 13px; font-weight: 600; margin: 14px 0 0; break-after: avoid; }
svg { max-width: 480px; }
.plots { grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); }
.figures td, .figures th { text-align: right; min-width: 76px; }
.figures td:first-child, .figures th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper); max-width: 44vw; min-width: 90px; overflow-wrap: anywhere; }
.figures td small { display: block; color: var(--faint); font-size: 11px; white-space: nowrap; }
.figures tr.group th { text-align: left; color: var(--ink); border-bottom-color: var(--ink); padding-top: 10px; }
.matrix .tag { font-size: 10.5px; padding: 0 4px; }
.matrix td div { line-height: 1.3; }
.examples { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); gap: 0 14px; align-items: start; }
.note { font-size: 13px; color: var(--faint); }
.tests .lead { display: none; }
.means { margin: 2px 0; }
.facts { margin: 8px 0 14px; }
ul { margin: 6px 0; padding-left: 20px; }
li { max-width: 90ch; overflow-wrap: anywhere; }
@media screen and (max-width: 720px) {
  .tests thead { display: none; }
  .tests table, .tests tbody, .tests tr, .tests td { display: block; width: 100%; }
  .tests tr { border-bottom: 1px solid var(--line); padding: 6px 0; }
  .tests td { border: 0; padding: 1px 0; overflow-wrap: anywhere; }
  .tests .lead { display: inline; color: var(--faint); }
}
@media print {
  @page { margin: 12mm; }
  h2 { margin-top: 14px; }
  table { font-size: 8pt; }
  .figures td, .figures th { min-width: 0; }
  .figures td:first-child, .figures th:first-child { position: static; max-width: none; min-width: 0; }
  .figures td small { font-size: 7pt; }
  .plots { grid-template-columns: 1fr 1fr; gap: 12px; }
  .examples { grid-template-columns: 1fr 1fr; }
  .tokens { line-height: 1.6; }
  .map, .legend, .verdict { break-inside: avoid; }
  .group { break-after: avoid; }
  a { color: inherit; text-decoration: none; }
}
)";

/// Many runs are wider than high.
constexpr std::string_view kComparisonStyle = R"(
body { max-width: 1500px; }
@media print { @page { size: A4 landscape; } .plots { grid-template-columns: 1fr 1fr 1fr; } table { font-size: 7.5pt; } .figures td, .figures th { padding: 2px 3px; } }
)";

/// A test with what each run found; null: nothing is known of it.
struct ComparedTest {
  const ExplanationResult* card = nullptr;  // of the first run that ran it
  std::vector<const ExplanationResult*> of_run{};
};

std::vector<ComparedTest> tests_of_all(const std::vector<Explanation>& runs) {
  std::vector<ComparedTest> tests;
  for (size_t r = 0; r < runs.size(); ++r)
    for (const auto& result : runs[r].results) {
      auto found =
          std::find_if(tests.begin(), tests.end(), [&](const auto& one) { return one.card->test == result.test; });
      if (found == tests.end()) {
        tests.push_back({&result, std::vector<const ExplanationResult*>(runs.size(), nullptr)});
        found = tests.end() - 1;
      }
      found->of_run[r] = &result;
      if (!found->card->not_run.empty()) found->card = &result;
    }
  return tests;
}

std::string in_element(const std::string& name, const std::string& kind, const std::string& html) {
  return "<" + name + " class=\"" + kind + "\">" + html + "</" + name + ">\n";
}

/// A frame with the verdict; brief: for narrow columns.
std::string verdict_tag(const ExplanationResult* result, bool brief = false) {
  const auto tag = [](const std::string& kind, const std::string& text) {
    return in_element("span", "tag " + kind, text);
  };
  if (result == nullptr) return tag("not_run", brief ? "none" : "no result");
  if (!result->not_run.empty()) return tag("not_run", "not run");
  if (result->verdict == ExplanationVerdict::speaks_for) return tag("for", brief ? "+ for" : "+ speaks for");
  if (result->verdict == ExplanationVerdict::speaks_against)
    return tag("against", brief ? "\u2212 against" : "\u2212 speaks against");
  return tag("neither", "neither");
}

std::string link_to(size_t test, const std::string& name) {
  return "<a href=\"#test-" + std::to_string(test + 1) + "\">" + html_text(name) + "</a>";
}

std::string title_of(const ExplanationResult& result) {
  return result.title.empty() ? result.test : result.title;
}

std::string with_point(const std::string& sentence) {
  return sentence + (sentence.empty() || sentence.back() == '.' ? "" : ".");
}

// ---- tables ----

constexpr const char* kTableEnd = "</tbody></table></div>\n";

std::string html_table_head(const std::string& kind, const std::vector<std::string>& titles) {
  std::string out = "<div class=\"scroll " + kind + "\"><table>\n<thead><tr>";
  for (const auto& title : titles) out += "<th>" + html_text(title) + "</th>";
  return out + "</tr></thead>\n<tbody>\n";
}

/// cells: HTML.
std::string html_table_row(const std::vector<std::string>& cells) {
  std::string out = "<tr>";
  for (const auto& cell : cells) out += "<td>" + cell + "</td>";
  return out + "</tr>\n";
}

std::string html_cell(const ExplanationCell& cell) {
  const auto known = [](const std::optional<double>& value) { return value && std::isfinite(*value); };
  if (!known(cell.value)) return cell.text.empty() ? "-" : html_text(cell.text);
  std::string out = html_text(number_text(*cell.value));
  if (known(cell.low) && known(cell.high))
    out += "<small>" + html_text(number_text(*cell.low) + " to " + number_text(*cell.high)) + "</small>";
  return out;
}

/// The tables of several runs that have the same title and columns, as one.
struct JoinedTable {
  const ExplanationTable* first;
  std::vector<std::pair<std::string, const ExplanationTable*>> parts;  // by name of the run
};

std::vector<JoinedTable> joined_tables(const ComparedTest& test, const std::vector<std::string>& names) {
  std::vector<JoinedTable> all;
  for (size_t r = 0; r < names.size(); ++r) {
    if (test.of_run[r] == nullptr) continue;
    for (const auto& table : test.of_run[r]->tables) {
      auto same = std::find_if(all.begin(), all.end(), [&](const JoinedTable& one) {
        return one.first->title == table.title && one.first->columns == table.columns;
      });
      if (same == all.end()) same = all.insert(all.end(), {&table, {}});
      same->parts.emplace_back(names[r], &table);
    }
  }
  return all;
}

/// Without a name of the run if there is one run alone.
std::string html_joined_table(const JoinedTable& table, bool several) {
  const size_t columns = std::max<size_t>(table.first->columns.size(), 1);
  std::string out;
  if (!table.first->title.empty()) out += in_element("p", "caption", html_text(table.first->title));
  out += html_table_head("figures", table.first->columns);
  std::vector<std::string> notes;
  for (const auto& [run, part] : table.parts) {
    if (several)
      out += R"(<tr class="group"><th colspan=")" + std::to_string(columns) + "\">" + html_text(run) + "</th></tr>\n";
    for (const auto& row : part->rows) {
      std::vector<std::string> cells{html_text(row.name)};
      for (const auto& cell : row.cells) cells.push_back(html_cell(cell));
      cells.resize(std::max(cells.size(), columns), "-");
      out += html_table_row(cells);
    }
    if (!part->note.empty() && std::find(notes.begin(), notes.end(), part->note) == notes.end())
      notes.push_back(part->note);
  }
  out += kTableEnd;
  for (const auto& note : notes) out += in_element("p", "note", html_text(note));
  return out;
}

// ---- plots ----

/// Plots of the same title have the same axes.
std::string html_plots_of(const ComparedTest& test, const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, const ExplanationPlot*>> all;
  for (size_t r = 0; r < names.size(); ++r)
    if (test.of_run[r] != nullptr)
      for (const auto& plot : test.of_run[r]->plots) all.emplace_back(names[r], &plot);
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    const auto first = [&](const std::string& title) {
      return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.second->title == title; }) -
             all.begin();
    };
    return first(a.second->title) < first(b.second->title);
  });
  std::string out;
  for (const auto& [run, plot] : all) {
    std::vector<const ExplanationPlot*> same;
    for (const auto& [other_run, other] : all)
      if (other->title == plot->title && other->kind == plot->kind) same.push_back(other);
    const DrawnPlot drawn = drawn_plot(*plot, range_of(same));
    out += html_figure(names.size() > 1 ? run + ": " + plot->title : plot->title, drawn.svg, drawn.caption);
  }
  return out.empty() ? "" : "<div class=\"plots\">\n" + out + "</div>\n";
}

// ---- tests ----

std::string counts_of(const ExplanationResult& result) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : result.counts) {
    std::string shown = name;
    std::replace(shown.begin(), shown.end(), '_', ' ');
    parts.push_back(with_commas(static_cast<double>(count)) + " " + shown);
  }
  return joined(parts);
}

/// What a run found in one sentence, or why there is nothing.
std::string finding_of(const ExplanationResult* result) {
  if (result == nullptr) return "This test was not asked for.";
  return with_point(result->not_run.empty() ? result->finding : result->not_run);
}

std::string html_finding(const ExplanationResult& result) {
  std::string out = "<p>" + verdict_tag(&result) + html_text(finding_of(&result)) + "</p>\n";
  if (const std::string counts = counts_of(result); !counts.empty())
    out += in_element("p", "note", html_text("Counted: " + counts + "."));
  for (const auto& note : result.notes) out += in_element("p", "note", html_text(with_point(note)));
  return out;
}

/// A row for each run; a note that several have is written once.
std::string html_findings(const ComparedTest& test, const std::vector<std::string>& names) {
  std::string out = html_table_head("tests", {"run", "verdict", "finding", "counted"});
  std::vector<std::string> notes;
  for (size_t r = 0; r < names.size(); ++r) {
    const auto* const result = test.of_run[r];
    out += html_table_row({"<b>" + html_text(names[r]) + "</b>", verdict_tag(result), html_text(finding_of(result)),
                           result == nullptr ? "" : html_text(counts_of(*result))});
    if (result == nullptr) continue;
    for (const auto& note : result->notes)
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  out += kTableEnd;
  for (const auto& note : notes) out += in_element("p", "note", html_text(with_point(note)));
  return out;
}

/// All examples of one run; of several the first of each title, best and worst.
std::vector<const ExplanationExample*> shown_examples(const ExplanationResult& result, bool several) {
  std::vector<const ExplanationExample*> shown;
  for (const auto& example : result.examples) {
    const auto same = [&](const auto* other) { return other->title == example.title; };
    if (!several || std::none_of(shown.begin(), shown.end(), same)) shown.push_back(&example);
  }
  return shown;
}

std::string html_examples_of(const ComparedTest& test, const std::vector<std::string>& names) {
  std::string out;
  for (size_t r = 0; r < names.size(); ++r) {
    if (test.of_run[r] == nullptr || test.of_run[r]->examples.empty()) continue;
    const auto shown = shown_examples(*test.of_run[r], names.size() > 1);
    if (names.size() > 1) out += html_element("h3", "Examples of " + names[r]);
    std::string all = "\n";
    for (const auto* example : shown) all += html_example(*example);
    out += in_element("div", "examples", all);
    if (shown.size() < test.of_run[r]->examples.size())
      out += in_element("p", "note",
                        std::to_string(shown.size()) + " of " + std::to_string(test.of_run[r]->examples.size()) +
                            " examples. The report in the folder of the run shows all.");
  }
  if (!out.empty() && names.size() == 1) out = html_element("h3", "Examples") + out;
  return out;
}

std::string html_test(const ComparedTest& test, size_t number, const std::vector<std::string>& names) {
  const ExplanationResult& card = *test.card;
  std::string out = "<section id=\"test-" + std::to_string(number + 1) + "\">\n<h2>" + html_text(title_of(card)) +
                    " <small>" + html_text(card.test + (card.paper.empty() ? "" : ", " + card.paper)) +
                    "</small></h2>\n";
  if (!card.means.empty())
    out += in_element("p", "means", "<b>What it means:</b> " + html_text(with_point(card.means)));
  if (!card.means_not.empty())
    out += in_element("p", "means", "<b>What it does not mean:</b> " + html_text(with_point(card.means_not)));
  out += names.size() > 1 ? html_findings(test, names) : html_finding(*test.of_run.front());
  for (const auto& table : joined_tables(test, names)) out += html_joined_table(table, names.size() > 1);
  return out + html_plots_of(test, names) + html_examples_of(test, names) + "</section>\n";
}

// ---- the top ----

std::string about_run(const Explanation& run) {
  std::vector<std::string> parts;
  for (const auto& part : {run.mechanism, run.task})
    if (!part.empty()) parts.push_back(part);
  parts.push_back(with_commas(static_cast<double>(run.texts)) + (run.texts == 1 ? " text" : " texts") +
                  (run.set.empty() ? "" : " of " + run.set));
  return joined(parts);
}

/// The names of the tests of a run that have this verdict, with links; "-" if there are none.
std::string tests_with(ExplanationVerdict verdict, const std::vector<ComparedTest>& tests, size_t run) {
  std::string out;
  for (size_t i = 0; i < tests.size(); ++i)
    if (const auto* result = tests[i].of_run[run];
        result != nullptr && result->not_run.empty() && result->verdict == verdict)
      out += (out.empty() ? "" : ", ") + link_to(i, title_of(*result));
  return out.empty() ? "-" : out;
}

/// A row for each run.
std::string html_verdicts(const std::vector<ComparedTest>& tests, const std::vector<Explanation>& runs,
                          const std::vector<std::string>& names) {
  std::string out = html_table_head("tests", {"run", "speaks for", "speaks against", "neither"});
  for (size_t r = 0; r < runs.size(); ++r) {
    const auto side = [&](const std::string& lead, ExplanationVerdict verdict) {
      return "<span class=\"lead\">" + lead + "</span>" + tests_with(verdict, tests, r);
    };
    out += html_table_row({"<b>" + html_text(names[r]) + "</b><br>" + html_text(about_run(runs[r])),
                           side("for: ", ExplanationVerdict::speaks_for),
                           side("against: ", ExplanationVerdict::speaks_against),
                           side("neither: ", ExplanationVerdict::neither)});
  }
  return out + kTableEnd;
}

/// Those that all runs have in common once, the others with the name of the run.
std::string html_all_facts(const std::vector<Explanation>& runs, const std::vector<std::string>& names) {
  std::vector<std::string> kinds;
  for (const auto& run : runs)
    for (const auto& [name, value] : run.facts)
      if (std::find(kinds.begin(), kinds.end(), name) == kinds.end()) kinds.push_back(name);
  std::vector<std::pair<std::string, std::string>> shown;
  for (const auto& kind : kinds) {
    std::vector<std::pair<std::string, std::string>> of_runs;
    std::set<std::string> values;
    for (size_t r = 0; r < runs.size(); ++r)
      for (const auto& [name, value] : runs[r].facts)
        if (name == kind) {
          of_runs.emplace_back(kind + " of " + names[r], value);
          values.insert(value);
        }
    if (values.size() == 1 && of_runs.size() == runs.size()) of_runs = {{kind, *values.begin()}};
    shown.insert(shown.end(), of_runs.begin(), of_runs.end());
  }
  return shown.empty() ? "" : in_element("div", "facts", html_facts(shown));
}

/// A row for each test, with its verdict and finding.
std::string html_summary(const std::vector<ComparedTest>& tests) {
  std::string out = html_table_head("tests", {"test", "paper", "verdict", "finding"});
  for (size_t i = 0; i < tests.size(); ++i) {
    const ExplanationResult& result = *tests[i].of_run.front();
    out += html_table_row(
        {link_to(i, title_of(result)), html_text(result.paper), verdict_tag(&result), html_text(finding_of(&result))});
  }
  return out + kTableEnd;
}

/// A row for each test and a column for each run, with its main figure and verdict.
std::string html_matrix(const std::vector<ComparedTest>& tests, const std::vector<std::string>& names) {
  std::vector<std::string> titles{"test"};
  titles.insert(titles.end(), names.begin(), names.end());
  std::string out = html_table_head("figures matrix", titles);
  for (size_t i = 0; i < tests.size(); ++i) {
    std::string figure;
    std::vector<std::string> cells{""};
    for (const auto* result : tests[i].of_run) {
      const auto main = result == nullptr ? std::nullopt : main_figure(*result);
      if (main && figure.empty()) figure = main->name;
      cells.push_back((main ? html_cell(main->cell) : "") + "<div>" + verdict_tag(result, true) + "</div>");
    }
    cells.front() =
        link_to(i, title_of(*tests[i].card)) + (figure.empty() ? "" : "<small>" + html_text(figure) + "</small>");
    out += html_table_row(cells);
  }
  return out + kTableEnd +
         in_element(
             "p", "note",
             "Figures are of each test's first table: of attention, of all texts, or of the model, with intervals of "
             "95 %; each test below says what its figures mean.");
}

// ---- the end ----

std::string html_sides(const std::vector<ComparedTest>& tests, size_t run) {
  std::string out;
  const auto add = [&](const std::string& lead, const std::string& links) {
    if (links != "-" && !links.empty()) out += "<li>" + lead + ": " + links + ".</li>\n";
  };
  add("For using these weights as an explanation here", tests_with(ExplanationVerdict::speaks_for, tests, run));
  add("Against it", tests_with(ExplanationVerdict::speaks_against, tests, run));
  add("Neither for nor against", tests_with(ExplanationVerdict::neither, tests, run));
  std::string not_run;
  for (size_t i = 0; i < tests.size(); ++i)
    if (const auto* result = tests[i].of_run[run]; result != nullptr && !result->not_run.empty())
      not_run += (not_run.empty() ? "" : ", ") + link_to(i, title_of(*result));
  add("Not run", not_run);
  return out.empty() ? "" : "<ul>\n" + out + "</ul>\n";
}

std::string html_end(const std::vector<ComparedTest>& tests, const std::vector<Explanation>& runs,
                     const std::vector<std::string>& names) {
  std::string out = "<section>\n<h2>What to make of it</h2>\n";
  if (runs.size() == 1) out += html_sides(tests, 0);
  if (runs.size() > 1) out += html_verdicts(tests, runs, names);
  out += html_element("p", explanation_caution());
  std::vector<std::string> papers;
  for (const auto& test : tests)
    if (!test.card->paper.empty() && std::find(papers.begin(), papers.end(), test.card->paper) == papers.end())
      papers.push_back(test.card->paper);
  if (!papers.empty()) out += in_element("p", "note", html_text("Sources of the tests: " + joined(papers, "; ") + "."));
  return out + "</section>\n";
}

}  // namespace

std::string explanation_page(const std::vector<Explanation>& runs) {
  const bool several = runs.size() > 1;
  std::vector<std::string> names = short_run_names(runs);
  for (size_t r = 0; r < names.size(); ++r)
    if (names[r].empty()) names[r] = "run " + std::to_string(r + 1);
  const auto tests = tests_of_all(runs);
  const std::string title =
      several ? "Can these weights be trusted as an explanation? " + std::to_string(runs.size()) + " runs"
              : "Can the weights of " + (runs.empty() || runs[0].run.empty() ? "a run" : runs[0].run) +
                    " be trusted as an explanation?";
  std::string body;
  if (runs.empty()) body += html_element("p", "No run was tested.");
  if (runs.size() == 1)
    body += in_element("p", "about", html_text(about_run(runs[0]))) +
            in_element("p", "verdict", html_text(short_verdict(runs[0]))) + html_all_facts(runs, names);
  if (several) body += html_verdicts(tests, runs, names);
  if (!tests.empty()) body += several ? html_matrix(tests, names) : html_summary(tests);
  const auto has_examples = [](const ExplanationResult* result) {
    return result != nullptr && !result->examples.empty();
  };
  if (std::any_of(tests.begin(), tests.end(), [&](const ComparedTest& test) {
        return std::any_of(test.of_run.begin(), test.of_run.end(), has_examples);
      }))
    body += html_legend_of_examples();
  for (size_t i = 0; i < tests.size(); ++i) body += html_test(tests[i], i, names);
  body += html_end(tests, runs, names);
  if (several)
    body += "<section>\n<h2>Where the figures are from</h2>\n" + html_all_facts(runs, names) + "</section>\n";
  const std::string style = std::string(kPlotStyle) + style_of_examples() + std::string(kExplanationStyle) +
                            (several ? std::string(kComparisonStyle) : "");
  return html_document(title, style, body);
}

}  // namespace heed::cli
