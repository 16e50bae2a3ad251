#include "apps/cli/screen.h"

#include <cmath>
#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>

namespace heed::cli {
namespace {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("Tom"), 3);
  EXPECT_EQ(display_width("汤姆"), 4);
  EXPECT_EQ(display_width("café"), 4);
  EXPECT_EQ(display_width("cafe\u0301"), 4);  // the accent is a combining character
  EXPECT_EQ(display_width("\xff\xfe"), 2);    // not UTF-8
}

TEST(Padded, FillsToColumns) {
  EXPECT_EQ(padded("汤姆", 6), "汤姆  ");
  EXPECT_EQ(padded_left("汤姆", 6), "  汤姆");
  EXPECT_EQ(padded("Jerry", 3), "Jerry");
}

TEST(Shortened, CutsToColumnsWithoutSplittingACharacter) {
  EXPECT_EQ(shortened("Jerry", 5), "Jerry");
  EXPECT_EQ(shortened("Jerry", 4), "Jer…");
  EXPECT_EQ(shortened("汤姆追逐", 6), "汤姆…");  // 5 columns: the third character would be the sixth and seventh
}

TEST(Printable, ReplacesControlCharacters) {
  EXPECT_EQ(printable("汤姆 <b>"), "汤姆 <b>");
  EXPECT_EQ(printable("a\nb\x1b[2J\xff"), "a\uFFFDb\uFFFD[2J\uFFFD");
}

TEST(Fixed, HasNoMinusZero) {
  EXPECT_EQ(fixed(2.5, 2), "2.50");
  EXPECT_EQ(fixed(-0.001, 2), "0.00");
  EXPECT_EQ(fixed(-0.01, 2), "-0.01");
}

TEST(Shade, GrowsWithTheShareAndStaysInRange) {
  const double shares[] = {-1, 0, 0.3, 0.5, 0.9, 1, 7};
  std::string shades;
  for (const double share : shares) shades += shade(share);
  EXPECT_EQ(shades, "  -+%@@");
  EXPECT_EQ(shade(std::nan("")), '?');
}

TEST(Tinted, WritesEscapesOnlyWithColors) {
  EXPECT_EQ(tinted("1.00", 1, Colors::none), "1.00");
  EXPECT_EQ(tinted("1.00", 1, Colors::full), "\x1b[48;2;253;231;37m\x1b[38;5;16m1.00\x1b[0m");  // dark on yellow
  EXPECT_EQ(tinted("0.00", 0, Colors::full), "\x1b[48;2;68;1;84m\x1b[38;5;231m0.00\x1b[0m");    // white on violet
  EXPECT_EQ(tinted("0.00", 0, Colors::palette), "\x1b[48;5;53m\x1b[38;5;231m0.00\x1b[0m");      // 53 = 16 + 36 + 1
}

TEST(HeatColor, IsGrayForNaN) {
  const Rgb gray = heat_color(std::nan(""));
  EXPECT_TRUE(gray.red == gray.green && gray.green == gray.blue);
  EXPECT_TRUE(is_bright(heat_color(1)));
  EXPECT_FALSE(is_bright(heat_color(0)));
}

TEST(Colors, FollowTheOptionTheTerminalAndNoColor) {
  unsetenv("NO_COLOR");
  setenv("TERM", "xterm", 1);
  setenv("COLORTERM", "truecolor", 1);
  EXPECT_EQ(colors("auto", true), Colors::full);
  EXPECT_EQ(colors("auto", false), Colors::none);
  EXPECT_EQ(colors("never", true), Colors::none);
  unsetenv("COLORTERM");
  EXPECT_EQ(colors("always", false), Colors::palette);
  setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(colors("auto", true), Colors::none);
  EXPECT_EQ(colors("always", true), Colors::palette);
  unsetenv("NO_COLOR");
}

TEST(Grid, AlignsColumnsInBothScripts) {
  const Grid grid{"weights", {"Tom", "在这里"}, {"汤姆", "x"}, {{1, 0}, {0.5, 0.25}}, "found", {"Tom", "cat"}};
  std::ostringstream out;
  print_heat(out, grid, Colors::none);
  EXPECT_EQ(out.str(),
            "  weights       Tom   在这里   found\n"
            "  汤姆      @@ 1.00     0.00   Tom\n"
            "  x         ++ 0.50  :: 0.25   cat\n");
  EXPECT_EQ(heat_width(grid), 29);  // up to the space after the last cell
  std::ostringstream numbers;
  print_numbers(numbers, grid);
  EXPECT_NE(numbers.str().find("  汤姆         1.00     0.00   Tom\n"), std::string::npos) << numbers.str();
}

}  // namespace
}  // namespace heed::cli
