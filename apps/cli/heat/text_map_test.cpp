#include "apps/cli/heat/text_map.h"

#include <cmath>
#include <sstream>

#include "apps/cli/heat/html.h"
#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed::cli {
namespace {

std::string printed(const TextMap& map, int columns, Colors colors = Colors::none) {
  std::ostringstream out;
  print_text_map(out, map, colors, columns);
  return out.str();
}

const TextMap kReview{
    "positive 0.99", "attend", {{.words = {"we", "loved", "the", "wine"}, .weights = {0, 0.9, 0.004, 0.096}}}};

TEST(TextMapOnATerminal, PrintsPercentagesBelowWords) {
  EXPECT_EQ(printed(kReview, 80),
            "positive 0.99 (attend)\n"
            "  we loved the wine\n"
            "     90        10\n");
}

TEST(TextMapOnATerminal, BreaksLinesAndLabelsParts) {
  TextMap map = kReview;
  map.parts[0].label = "1";
  map.parts[0].weight = 0.25;
  map.parts.push_back({.label = "2", .words = {"not", "red"}, .weight = 0.003});
  EXPECT_EQ(printed(map, 26),
            "positive 0.99 (attend)\n"
            "  1: 25 %   we loved the\n"
            "               90\n"
            "            wine\n"
            "            10\n"
            "  2: 0.3 %  not red\n");
}

TEST(TextMapOnATerminal, KeepsALongTextWithinTheColumns) {
  TextMap map{.parts = {{}}};
  for (int i = 0; i < 300; ++i) {
    map.parts[0].words.push_back(i % 7 == 0 ? "很长的词" : "word");
    map.parts[0].weights.push_back(1.0 / 300);
  }
  map.parts[0].words[5] = std::string(200, 'x');
  std::istringstream lines(printed(map, 80));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(display_width(line), 80) << line;
  EXPECT_LT(count, 60);
  EXPECT_NE(printed(map, 80).find("0.3"), std::string::npos);  // 1/300: a digit after the point, as all are small
}

TEST(TextMapOnATerminal, ColorsWordsByTheLargestWeight) {
  EXPECT_NE(printed(kReview, 80, Colors::full).find(tinted("loved", 1, Colors::full) + " "), std::string::npos);
}

TEST(TextMap, MustHaveAWeightForEachWordOrNone) {
  EXPECT_THROW(check_text_map({"", "", {{.words = {"a", "b"}, .weights = {1}}}}), Error);
  check_text_map({"", "", {{.words = {"a", "b"}}}});
}

TEST(TextMapInHtml, EscapesWordsAndNeedsNoScript) {
  TextMap map = kReview;
  map.title = "<b>";
  map.parts[0].words[0] = "</span><script>alert(1)</script>";
  map.parts[0].weights[0] = std::nan("");
  const auto page = html_page("texts", {}, {map});
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_NE(page.find("title=\"0.9000\">loved</span>"), std::string::npos) << page;
  EXPECT_NE(page.find("title=\"not a number\">&lt;/span&gt;"), std::string::npos) << page;
}

TEST(TextMapOnATerminal, EndsWithItsNote) {
  TextMap map = kReview;
  map.note = "Of 2 tests, none speaks for reading these weights as an explanation.";
  EXPECT_EQ(printed(map, 40),
            "positive 0.99 (attend)\n"
            "  we loved the wine\n"
            "     90        10\n"
            "  Of 2 tests, none speaks for reading\n"
            "  these weights as an explanation.\n");
}

TEST(TextMapAsHtml, EndsWithItsNote) {
  TextMap map = kReview;
  EXPECT_EQ(html_page("", {}, {map}).find("class=\"note\""), std::string::npos);
  map.note = "<none>";
  EXPECT_NE(html_page("", {}, {map}).find("<p class=\"note\">&lt;none&gt;</p>\n</section>"), std::string::npos);
}

}  // namespace
}  // namespace heed::cli
