#include "apps/cli/heat/html.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

/// The JSON that the script of the page reads.
nlohmann::json data_in(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const size_t from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

const HeatMap kTom{"Tom", {"Tom", "runs"}, {"汤姆", "跑步"}, {{0.9, 0.1}, {0.25, 0.75}}};

TEST(HtmlPage, HoldsWordsAndWeights) {
  const auto data = data_in(html_page("demo", {kTom, kTom}));
  ASSERT_EQ(data["maps"].size(), 2U);
  const auto& map = data["maps"][0];
  EXPECT_EQ(map["title"], "Tom");
  EXPECT_EQ(map["columns"], kTom.columns);
  EXPECT_EQ(map["rows"], kTom.rows);
  EXPECT_EQ(map["weights"], kTom.weights);
  EXPECT_EQ(data["colors"].size(), 256U);
  EXPECT_EQ(data["colors"][255], (std::vector<int>{253, 231, 37, 1}));  // yellow, with dark text
}

TEST(HtmlPage, EscapesWords) {
  const std::string attack = "</script><script>alert(1)</script><!--", title = "<b>&\"";
  const auto page = html_page(title, {{attack, {attack}, {"\xff\n"}, {{1}}}});
  EXPECT_EQ(count(page, "<script"), 2U);  // the data and the script
  EXPECT_EQ(count(page, "</script"), 2U);
  EXPECT_EQ(count(page, "<!--"), 0U);
  EXPECT_EQ(count(page, "<b>&\""), 0U);
  EXPECT_EQ(count(page, "<title>&lt;b&gt;&amp;&quot;</title>"), 1U);
  const auto data = data_in(page);
  EXPECT_EQ(data["maps"][0]["columns"][0], attack);
  EXPECT_EQ(data["maps"][0]["rows"][0], "\uFFFD\uFFFD");
}

TEST(HtmlPage, IsSelfContained) {
  const auto page = html_page("demo", {kTom});
  for (const char* part : {"http:", "https:", "src=", "href=", "url(", "@import", "fetch("})
    EXPECT_EQ(count(page, part), 0U) << part;
}

TEST(HtmlPage, KeepsFourDigitsAndWritesNullForNonFiniteWeights) {
  const auto data = data_in(html_page("", {{"", {"a", "b", "c"}, {"x"}, {{1.0 / 3, std::nan(""), INFINITY}}}}));
  EXPECT_EQ(data["maps"][0]["weights"].dump(), "[[0.3333,null,null]]");
}

TEST(HtmlPage, HandlesNoMapsAndNoWords) {
  EXPECT_EQ(data_in(html_page("none", {}))["maps"].size(), 0U);
  EXPECT_EQ(data_in(html_page("empty", {HeatMap{}}))["maps"][0]["weights"].dump(), "[]");
}

TEST(HtmlPage, HasTheNoteOfEachMap) {
  HeatMap map = kTom;
  map.note = "1 test speaks against it";
  const auto data = data_in(html_page("", {kTom, map}));
  EXPECT_EQ(data["maps"][0]["note"], "");
  EXPECT_EQ(data["maps"][1]["note"], map.note);
}

}  // namespace
}  // namespace heed::cli
