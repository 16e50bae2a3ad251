// Terminal output: columns that align in any script, and numbers as colors or shades.

#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace heed::cli {

/// Width of the text on a terminal, in columns: 2 for a Chinese character, 0 for a combining mark.
int display_width(const std::string& text);

/// The text with spaces after it (before it), up to that many columns.
std::string padded(const std::string& text, int columns);
std::string padded_left(const std::string& text, int columns);

/// The text, cut to that many columns with "…" at the end if it is longer.
std::string shortened(const std::string& text, int columns);

/// The text without control characters and invalid UTF-8, which become U+FFFD.
std::string printable(const std::string& text);

/// The number with exactly that many digits after the decimal point: "2.50".
std::string fixed(double value, int digits);

enum class Colors { none, palette, full };  // palette: 256 colors, full: 24 bits

/// when: "auto", "always" or "never". auto: colors if `terminal`, unless NO_COLOR is set or TERM is dumb.
Colors colors(const std::string& when, bool terminal);

/// One of " .:-=+*#%@" for a share of 0 to 1, clamped; '?' for NaN.
char shade(double share);

struct Rgb {
  int red, green, blue;
};
/// Color of a share, from dark (0) to bright (1), gray for NaN; and whether black text is more readable on it than
/// white.
Rgb heat_color(double share);
bool is_bright(const Rgb& color);

/// The text on a background of heat_color(share); plain text without colors.
std::string tinted(const std::string& text, double share, Colors colors);

/// A table of numbers with a word for each column and row; cells [row][column].
struct Grid {
  std::string title;
  std::vector<std::string> columns, rows;
  std::vector<std::vector<double>> cells;
  std::string last;                // heading of a last text column; empty: none
  std::vector<std::string> notes;  // texts of the last column, one per row
};
void print_numbers(std::ostream& out, const Grid& grid);
/// Prints numbers of 0 to 1 as a heat map; and the width of that map in columns, without notes.
void print_heat(std::ostream& out, const Grid& grid, Colors colors);
int heat_width(const Grid& grid);

}  // namespace heed::cli
