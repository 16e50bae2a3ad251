// Text on a terminal: columns that line up in any script, and numbers as colors or shades.

#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace heed::cli {

/// Columns that the text takes on a terminal: 2 for a Chinese character, 0 for a combining mark.
int display_width(const std::string& text);

/// The text with blanks after (or before) it, up to that many columns.
std::string padded(const std::string& text, int columns);
std::string padded_left(const std::string& text, int columns);

/// The text itself, or as much of it as goes into so many columns with "…" after it.
std::string shortened(const std::string& text, int columns);

/// Nothing that would move the cursor: control characters and bytes that are not UTF-8 become U+FFFD.
std::string printable(const std::string& text);

/// "2.50": always so many digits after the decimal point.
std::string fixed(double value, int digits);

enum class Colors { none, palette, full };  // 256 colors, 24 bits

/// when: "auto", "always" or "never". auto: where `terminal`, unless NO_COLOR is set or TERM is dumb.
Colors colors(const std::string& when, bool terminal);

/// One of " .:-=+*#%@" for a share of 0 to 1; what lies outside counts as the nearer end, and NaN is '?'.
char shade(double share);

struct Rgb {
  int red, green, blue;
};
/// From dark (0) to bright (1), gray for NaN; and whether black text reads better on it than white.
Rgb heat_color(double share);
bool is_bright(const Rgb& color);

/// Cell text on a background from dark (0) to bright (1); plain text where there are no colors.
std::string tinted(const std::string& text, double share, Colors colors);

/// Numbers under words, words before numbers: cells [row][column].
struct Grid {
  std::string title;
  std::vector<std::string> columns, rows;
  std::vector<std::vector<double>> cells;
  std::string last;                // heading of a last column, "" if there is none
  std::vector<std::string> notes;  // its texts, one for each row
};
void print_numbers(std::ostream& out, const Grid& grid);
/// Numbers of 0 to 1, as a heat map; and the columns it takes, without notes.
void print_heat(std::ostream& out, const Grid& grid, Colors colors);
int heat_width(const Grid& grid);

}  // namespace heed::cli
