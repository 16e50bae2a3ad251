#include <cmath>
#include <sstream>

#include "apps/cli/heat/heat_map.h"
#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed::cli {
namespace {

std::string printed(const HeatMap& map, int columns, Colors colors = Colors::none) {
  std::ostringstream out;
  print_heat_map(out, map, colors, columns);
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// n source words w1, w2, ... and n target words 词1, 词2, ..., each attending to its own.
HeatMap diagonal(int n) {
  HeatMap map;
  for (int i = 0; i < n; ++i) {
    map.columns.push_back("w" + std::to_string(i + 1));
    map.rows.push_back("词" + std::to_string(i + 1));
    map.weights.emplace_back(n, 0.0);
    map.weights.back()[static_cast<size_t>(i)] = 1;
  }
  return map;
}

const HeatMap kTom{"Tom chases Jerry",
                   {"Tom", "chases", "Jerry"},
                   {"汤姆", "追逐", "杰瑞"},
                   {{0.97, 0.02, 0.01}, {0.03, 0.9, 0.07}, {0, 0.25, 0.75}}};

TEST(HeatMapOnATerminal, PrintsNumbersUnderWordsIfTheyFit) {
  EXPECT_EQ(printed(kTom, 80),
            "Tom chases Jerry\n"
            "                Tom   chases    Jerry\n"
            "  汤姆      @@ 0.97     0.02     0.01\n"
            "  追逐         0.03  %% 0.90  .. 0.07\n"
            "  杰瑞         0.00  :: 0.25  ## 0.75\n");
}

TEST(HeatMapOnATerminal, PrintsVerticalWordsAndPercentagesIfNumbersDoNotFit) {
  EXPECT_EQ(printed(kTom, 30),
            "Tom chases Jerry\n"
            "             c\n"
            "             h   J\n"
            "             a   e\n"
            "         T   s   r\n"
            "         o   e   r\n"
            "  %      m   s   y\n"
            "  汤姆  97   2   1\n"
            "  追逐   3  90   7\n"
            "  杰瑞   ·  25  75\n");
}

TEST(HeatMapOnATerminal, PrintsShadesOfTwoColumnsForManyWords) {
  const auto lines = lines_of(printed(diagonal(30), 80));
  ASSERT_EQ(lines.size(), 3U + 30 + 1);  // w30, vertical; rows; the scale
  EXPECT_EQ(lines[2].substr(0, 27), "       1 2 3 4 5 6 7 8 9 0 ");
  EXPECT_EQ(lines[3], "  词1  @@" + std::string(58, ' ') + "  w1 1.00");
  EXPECT_EQ(lines[32], "  词30 " + std::string(58, ' ') + "@@  w30 1.00");
  EXPECT_EQ(lines[33], "       0   ..::--==++**##%%@@ 1");
  for (const auto& line : lines) EXPECT_LE(display_width(line), 80);
}

TEST(HeatMapOnATerminal, BreaksALongSentenceIntoBlocks) {
  const auto text = printed(diagonal(100), 80);
  EXPECT_NE(text.find("  source words 1 to 36 of 100\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  source words 73 to 100 of 100\n"), std::string::npos);
  for (const auto& line : lines_of(text)) EXPECT_LE(display_width(line), 80) << line;
}

TEST(HeatMapOnATerminal, ColorsCellsAndNothingElse) {
  const auto text = printed(diagonal(20), 60, Colors::full);
  const auto bright = tinted("  ", 1, Colors::full), dark = tinted("  ", 0, Colors::full);
  std::string row = "  词1  " + bright;
  for (int j = 1; j < 20; ++j) row += dark;
  EXPECT_NE(text.find(row + "  w1 1.00\n"), std::string::npos) << text;
}

TEST(HeatMapOnATerminal, ScalesColorsToTheBrightestWeight) {
  auto map = diagonal(20);
  map.top = 2;
  EXPECT_NE(printed(map, 60).find("  词1  ++"), std::string::npos);  // half of the brightest weight
}

TEST(HeatMapOnATerminal, AlignsColumnsWithAnyText) {
  HeatMap map = diagonal(12);
  map.columns[0] = "Donaudampfschifffahrtsgesellschaft";
  map.columns[1] = "cafe\u0301";
  map.columns[2] = "换行\n了";
  map.rows[0] = "很长很长很长很长很长很长很长很长很长很长的词";
  map.weights[0][0] = std::nan("");
  map.weights[0][1] = -5;
  const auto lines = lines_of(printed(map, 60));
  EXPECT_EQ(lines.size(), 14U + 12 + 1);
  EXPECT_EQ(lines[14], "  很长很长很长很长很… ??" + std::string(22, ' ') + "  换行\uFFFD了 0.00");
  EXPECT_EQ(lines[15].substr(0, lines[15].find("@@")), "  词2" + std::string(17, ' ') + "  ");
  std::string head(22, ' ');  // g++ 12 warns of an overflow in a string concatenation here
  head += "⋮ e\u0301 ";
  EXPECT_EQ(lines[13].substr(0, 30), head);
}

TEST(HeatMapOnATerminal, NamesTheSideWithoutWords) {
  EXPECT_EQ(printed({"nothing", {}, {}, {}}, 80), "nothing\n  no words on the source side\n");
  EXPECT_EQ(printed({"", {"Tom"}, {}, {}}, 80), "  no words on the target side\n");
  EXPECT_EQ(printed({"", {"a"}, {"b"}, {{1}}}, 80), "                  a\n  b         @@ 1.00\n");
}

TEST(HeatMap, MustHaveAWeightForEachPairOfWords) {
  EXPECT_THROW(check_heat_map({"", {"a"}, {"b", "c"}, {{1}}}), Error);
  EXPECT_THROW(check_heat_map({"", {"a", "b"}, {"c"}, {{1}}}), Error);
  EXPECT_THROW(check_heat_map({"", {"a"}, {"c"}, {{1}}, 0}), Error);
}

}  // namespace
}  // namespace heed::cli
