#include "apps/cli/explain/page.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <regex>
#include <string_view>

#include "apps/cli/explain/example.h"
#include "apps/cli/explain/number.h"
#include "apps/cli/explain/plot.h"
#include "apps/cli/explain/testing_explanation.h"
#include <gtest/gtest.h>

#include "heed/data/testing.h"

namespace heed::cli {
namespace {

using testing::says;

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// What is wrong with the tags: an element that is closed too early, or never; or "".
std::string fault_of_tags(const std::string& page) {
  const std::vector<std::string> alone{"!doctype", "meta", "br"};
  std::vector<std::string> open;
  for (size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    size_t end = at + 1;  // of the tag, beyond quoted values
    for (bool quoted = false; end < page.size() && (quoted || page[end] != '>'); ++end) {
      if (page[end] == '"') quoted = !quoted;
      if (page[end] == '<') return "'<' inside a tag: " + page.substr(at, 60);
    }
    const std::string tag = page.substr(at + 1, end - at - 1);
    std::string name = tag.substr(0, tag.find_first_of(" /\n", 1));
    if (tag.front() == '/') {
      name.erase(0, 1);
      if (open.empty() || open.back() != name)
        return "got </" + name + "> in <" + (open.empty() ? "" : open.back()) +
               ">: " + page.substr(at > 60 ? at - 60 : 0, 90);
      open.pop_back();
    } else if (tag.back() != '/' && std::find(alone.begin(), alone.end(), name) == alone.end()) {
      open.push_back(name);
    }
    at = end;
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

std::vector<Explanation> three_runs() {
  return {made_up_explanation("runs/a"), made_up_explanation("runs/b<", "dot + sparsemax", 2),
          made_up_explanation("runs/c", "uniform", 3)};
}

TEST(FaultOfTags, IsFound) {
  EXPECT_EQ(fault_of_tags("<p title=\"a>b\"><br>x</p>"), "");
  EXPECT_NE(fault_of_tags("<p><b>x</p></b>"), "");
  EXPECT_NE(fault_of_tags("<p><b>x</b>"), "");
  EXPECT_NE(fault_of_tags("<p <b>x</b></p>"), "");
}

TEST(ExplanationPage, IsWellFormed) {
  EXPECT_EQ(fault_of_tags(explanation_page({made_up_explanation("runs/a")})), "");
  EXPECT_EQ(fault_of_tags(explanation_page(three_runs())), "");
  EXPECT_EQ(fault_of_tags(explanation_page({})), "");
  EXPECT_EQ(fault_of_tags(explanation_page({Explanation{}})), "");
}

TEST(ExplanationPage, FetchesNothingAndHasNoScript) {
  for (const std::string& page : {explanation_page({made_up_explanation("runs/a")}), explanation_page(three_runs())}) {
    for (const char* part : {"http:", "https:", "src=", "url(", "@import", "<script", "<link", "<img", "<iframe"})
      EXPECT_EQ(occurrences(page, part), 0U) << part;
    EXPECT_EQ(occurrences(page, "href="), occurrences(page, "href=\"#test-"));
  }
}

TEST(ExplanationPage, HasNoNumberThatIsNotFinite) {
  const std::regex bad("(^|[^a-z])-?(nan|inf|infinity)([^a-z]|$)", std::regex::icase);
  for (const std::string& page : {explanation_page({made_up_explanation("runs/a")}), explanation_page(three_runs())}) {
    std::smatch found;
    EXPECT_FALSE(std::regex_search(page, found, bad)) << found.str();
  }
}

TEST(ExplanationPage, ShowsEveryResult) {
  const Explanation run = made_up_explanation("runs/a");
  const std::string page = explanation_page({run});
  for (const auto& result : run.results) EXPECT_TRUE(says(page, {result.title, result.not_run}));
  EXPECT_TRUE(
      says(page, {"Can the weights of runs/a be trusted", "additive + softmax, classify, 872 texts of dev",
                  "Of 3 tests, 1 speaks for reading these weights as an explanation (gradients), 1 speaks against it",
                  "872 texts, 3 one token", "0.412 (0.398 to 0.426)", "3e-05", "no layers", "25,000 points.",
                  "One of 9 is drawn.", "The first 400 of 1,234 tokens are shown.", "all weights are 0",
                  "Plausible is not faithful", "Against it: <a href=\"#test-2\">Permuted weights</a>",
                  "What it does not mean:", "0123456789abcdef0123456789abcdef01234567"}));
  EXPECT_EQ(occurrences(page, "<svg"), 4U);
  EXPECT_EQ(occurrences(page, "class=\"example\""), 3U);
}

TEST(ExplanationPage, ComparesRuns) {
  const std::string page = explanation_page(three_runs());
  EXPECT_TRUE(
      says(page, {"3 runs", "<th>a</th><th>b&lt;</th><th>c</th>",
                  "<b>b&lt;</b><br>dot + sparsemax, classify, 872 texts of dev", "seed of b&lt;", "Examples of c"}));
  EXPECT_EQ(occurrences(page, "<dt>version</dt>"), 1U);      // all have the same
  EXPECT_EQ(occurrences(page, "<tr class=\"group\">"), 6U);  // two tables of three runs
  EXPECT_EQ(occurrences(page, "<h2>Permuted weights"), 1U);
  EXPECT_EQ(occurrences(page, "class=\"example\""), 9U);  // of each run one with each title
  auto runs = three_runs();
  runs[0].results[1].examples.push_back(runs[0].results[1].examples.front());
  const std::string more = explanation_page(runs);
  EXPECT_EQ(occurrences(more, "class=\"example\""), 9U);
  EXPECT_TRUE(says(more, {"2 of 3 examples. The report in the folder of the run shows all."}));
}

TEST(ExplanationPage, ComparesRunsUnderDifferentTests) {
  auto runs = three_runs();
  runs[0].results.clear();
  runs[1].results.erase(runs[1].results.begin());
  const std::string page = explanation_page(runs);
  EXPECT_EQ(fault_of_tags(page), "");
  EXPECT_TRUE(says(page, {"no result", "This test was not asked for.", "<b>a</b><br>additive + softmax"}));
}

TEST(ExplanationPage, EscapesText) {
  const std::string page = explanation_page({made_up_explanation("runs/<u>")});
  EXPECT_EQ(occurrences(page, "<script"), 0U);
  EXPECT_EQ(occurrences(page, "<u>"), 0U);
  EXPECT_EQ(occurrences(page, "\u202E"), 0U);
  EXPECT_EQ(occurrences(page, std::string(100, 'x')), 0U);  // the long token is cut
  EXPECT_TRUE(says(page, {"&lt;script&gt;alert(&quot;1 &amp; 2&quot;)", "坏电影", "🙂👍🏽", "שלום",
                          "\uFFFDreversed", "xxxxxxxx…", "<span class=\"none\" title=\"no weight\">&lt;b&gt;</span>"}));
}

/// tools/check_pages sets HEED_PAGES to a folder, and opens what is written there in a browser.
TEST(ExplanationPage, IsWrittenForTheBrowser) {
  const char* folder = std::getenv("HEED_PAGES");
  if (folder == nullptr) GTEST_SKIP() << "HEED_PAGES is not set";
  write_atomically(std::string(folder) + "/run.html", explanation_page({made_up_explanation("runs/sst2-additive")}));
  write_atomically(std::string(folder) + "/runs.html", explanation_page(three_runs()));
}

TEST(ExplanationPage, KeepsRowsThatLackCells) {
  Explanation run{"r", "classify", "", "", 1, {}};
  run.results.push_back({.test = "t", .tables = {{.columns = {"a", "b", "c"}, .rows = {{"row", {}}}}}});
  run.results[0].examples.push_back({"", "", {"a", "b"}, {{"short", {1}}}});
  run.results[0].examples.push_back({"", "", {}, {}});
  const std::string page = explanation_page({run});
  EXPECT_EQ(fault_of_tags(page), "");
  EXPECT_TRUE(says(page, {"<tr><td>row</td><td>-</td><td>-</td></tr>", "<span>b</span>", "No tokens."}));
}

TEST(ExplanationPlots, HandleDegenerateValues) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto kind : {ExplanationPlot::Kind::violin, ExplanationPlot::Kind::scatter, ExplanationPlot::Kind::curve})
    for (const auto& points :
         std::vector<std::vector<std::pair<double, double>>>{{},
                                                             {{0, 0}},
                                                             {{1, 1}, {1, 1}},
                                                             {{std::nan(""), std::nan("")}, {1, infinity}},
                                                             {{0, 1e308}, {1, -1e308}},
                                                             {{0, 1e-300}, {1, 2e-300}},
                                                             {{1e20, 1e20}, {1e20, 1e20 + 1e5}},
                                                             {{0, -3}, {1, 7}}}) {
      const ExplanationPlot plot{kind, "title", "x", "y", {{"a", points}, {"b", {}}}};
      const DrawnPlot drawn = drawn_plot(plot, range_of({&plot}));
      EXPECT_EQ(fault_of_tags(drawn.svg), "");
      EXPECT_FALSE(std::regex_search(drawn.svg + drawn.caption, std::regex("nan|inf"))) << drawn.svg;
      EXPECT_LT(drawn.svg.size(), 20000U);
    }
}

TEST(ExplanationPlots, DrawEveryPointOfAFew) {
  const ExplanationPlot plot{ExplanationPlot::Kind::scatter, "t", "x", "y", {{"a", {{0, 0}, {1, 1}, {0.5, 0.25}}}}};
  const DrawnPlot drawn = drawn_plot(plot, range_of({&plot}));
  EXPECT_EQ(occurrences(drawn.svg, "<circle"), 3U);
  EXPECT_EQ(drawn.caption, "3 points.");
}

TEST(ExplanationPlots, OfTheSameTitleHaveTheSameAxes) {
  const ExplanationPlot a{ExplanationPlot::Kind::scatter, "t", "x", "y", {{"", {{2, 5}, {10, 5}}}}},
      b{ExplanationPlot::Kind::scatter, "t", "x", "y", {{"", {{-4, 7}}}}};
  const PlotRange range = range_of({&a, &b});
  EXPECT_LT(range.x_low, -4);
  EXPECT_GT(range.x_high, 10);
  EXPECT_LT(range.y_low, 5);
  EXPECT_GT(range.y_high, 7);
}

TEST(ExplanationPlots, DrawManyPointsAsFewShapes) {
  const Explanation run = made_up_explanation("r");
  const ExplanationPlot& plot = run.results[2].plots[1];
  const std::string svg = drawn_plot(plot, range_of({&plot})).svg;
  EXPECT_LE(occurrences(svg, "opacity="), 3000U);
  EXPECT_LT(svg.size(), 400'000U);
}

TEST(ExplanationPlots, DrawFewValuesAsDots) {
  ExplanationPlot plot{ExplanationPlot::Kind::violin, "t", "x", "y", {{"a", {}}}};
  for (int i = 0; i < 7; ++i) plot.series[0].points.emplace_back(0, i);
  const DrawnPlot few = drawn_plot(plot, range_of({&plot}));
  EXPECT_EQ(occurrences(few.svg, "class=\"hull\""), 0U);
  EXPECT_EQ(occurrences(few.svg, "class=\"dot\""), 7U);
  EXPECT_TRUE(says(few.svg, {"7, median 3"}));
  EXPECT_TRUE(says(few.caption, {"Fewer than 8 values are drawn as dots."}));
  plot.series[0].points.emplace_back(0, 7);
  EXPECT_EQ(occurrences(drawn_plot(plot, range_of({&plot})).svg, "class=\"hull\""), 1U);
}

TEST(ExplanationPlots, SortCurvesByX) {
  const ExplanationPlot plot{ExplanationPlot::Kind::curve, "t", "x", "y", {{"a", {{1, 1}, {0, 0}}}}};
  const std::string svg = drawn_plot(plot, {0, 1, 0, 1}).svg;
  const std::regex path("class=\"path\"[^>]*points=\"([0-9.]+) [0-9.]+ ([0-9.]+) ");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(svg, found, path));
  EXPECT_LT(std::stod(found[1]), std::stod(found[2]));
}

TEST(ShownToken, IsShortAndVisible) {
  EXPECT_EQ(shown_token("word"), "word");
  EXPECT_EQ(shown_token(""), "\u00A0");
  EXPECT_EQ(shown_token("\n"), "\uFFFD");
  EXPECT_LT(shown_token(std::string(10000, 'x')).size(), 50U);
  std::string accents = "e";
  for (int i = 0; i < 5000; ++i) accents += "\u0301";
  EXPECT_LT(shown_token(accents).size(), 200U);
}

TEST(NumberText, IsShort) {
  EXPECT_EQ(number_text(0.4125), "0.412");
  EXPECT_EQ(number_text(-0.5), "-0.500");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(1), "1.000");
  EXPECT_EQ(number_text(872), "872");
  EXPECT_EQ(number_text(0.00003), "3e-05");
  EXPECT_EQ(number_text(25000), "25,000");
  EXPECT_EQ(number_text(-1234), "-1,234");
  EXPECT_EQ(number_text(std::nan("")), "-");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "-");
}

}  // namespace
}  // namespace heed::cli
