#include "apps/cli/screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iomanip>
#include <locale.h>
#include <sstream>
#include <string_view>
#include <wchar.h>

#include "heed/base/utf8.h"

namespace heed::cli {
namespace {

constexpr int kMinCell = 8;

/// Sets a UTF-8 locale on this thread, because wcwidth() and mbrtowc() depend on the locale.
class Utf8 {
 public:
  Utf8() : own_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)), before_(own_ ? uselocale(own_) : nullptr) {}
  ~Utf8() {
    if (!own_) return;
    uselocale(before_);
    freelocale(own_);
  }
  Utf8(const Utf8&) = delete;
  Utf8& operator=(const Utf8&) = delete;

 private:
  locale_t own_, before_;
};

/// Index of the nearest color of the 6 x 6 x 6 cube, 16 to 231 of the palette, with levels 0, 95, 135, ..., 255.
int in_palette(const Rgb& color) {
  const auto step = [](int value) { return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40; };
  return 16 + 36 * step(color.red) + 6 * step(color.green) + step(color.blue);
}

int widest(const std::vector<std::string>& texts, int min) {
  for (const auto& text : texts) min = std::max(min, display_width(text));
  return min;
}

/// Formats one number in `columns` columns, plus one space.
using Cell = std::function<std::string(double value, int columns)>;

std::string without_trailing_whitespace(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

int first_width(const Grid& grid) {
  return std::max(display_width(grid.title), widest(grid.rows, kMinCell)) + 1;
}

std::vector<int> widths_of(const Grid& grid) {
  std::vector<int> widths;
  for (const auto& column : grid.columns) widths.push_back(std::max(kMinCell, display_width(column)));
  return widths;
}

void print_grid(std::ostream& out, const Grid& grid, const Cell& cell) {
  const int first = first_width(grid);
  const auto widths = widths_of(grid);
  const auto print = [&](const std::string& name, const std::function<std::string(size_t)>& text,
                         const std::string& note) {
    std::string line = "  " + padded(name, first);
    for (size_t j = 0; j < widths.size(); ++j) line += text(j);
    out << without_trailing_whitespace(line + "  " + note) << '\n';
  };
  print(
      grid.title, [&](size_t j) { return padded_left(grid.columns[j], widths[j]) + ' '; }, grid.last);
  for (size_t i = 0; i < grid.rows.size(); ++i)
    print(
        grid.rows[i], [&](size_t j) { return cell(grid.cells[i][j], widths[j]); },
        grid.last.empty() ? "" : grid.notes[i]);
}

}  // namespace

int display_width(const std::string& text) {
  const Utf8 locale;
  int columns = 0;
  std::mbstate_t state{};
  for (size_t i = 0; i < text.size();) {
    wchar_t letter = 0;
    const size_t bytes = std::mbrtowc(&letter, text.data() + i, text.size() - i, &state);
    const bool broken = bytes == 0 || bytes > text.size() - i;  // not UTF-8: one column for each byte
    columns += broken ? 1 : std::max(0, wcwidth(letter));
    i += broken ? 1 : bytes;
    if (broken) state = {};
  }
  return columns;
}

std::string padded(const std::string& text, int columns) {
  return text + std::string(static_cast<size_t>(std::max(0, columns - display_width(text))), ' ');
}

std::string padded_left(const std::string& text, int columns) {
  return std::string(static_cast<size_t>(std::max(0, columns - display_width(text))), ' ') + text;
}

std::string shortened(const std::string& text, int columns) {
  if (display_width(text) <= columns) return text;
  std::string kept;
  int left = columns - 1;
  for (const char32_t character : decoded(text)) {
    const auto letter = encoded(character);
    left -= display_width(letter);
    if (left < 0) break;
    kept += letter;
  }
  return kept + "…";
}

std::string printable(const std::string& text) {
  constexpr char32_t kReplacement = 0xFFFD, kSpace = ' ', kDelete = 0x7F, kLastControl = 0x9F;
  std::u32string letters = decoded(text);
  for (char32_t& letter : letters)
    if (letter < kSpace || (letter >= kDelete && letter <= kLastControl)) letter = kReplacement;
  return encoded(letters);
}

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  const bool minus_zero = text.str().find_first_of("123456789") == std::string::npos && value < 0;
  return minus_zero ? text.str().substr(1) : text.str();
}

Colors colors(const std::string& when, bool terminal) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value ? value : "");
  };
  if (when == "never") return Colors::none;
  if (when == "auto" && (!terminal || !variable("NO_COLOR").empty() || variable("TERM") == "dumb")) return Colors::none;
  const auto depth = variable("COLORTERM");
  return depth == "truecolor" || depth == "24bit" ? Colors::full : Colors::palette;
}

char shade(double share) {
  constexpr std::string_view shades = " .:-=+*#%@";
  if (std::isnan(share)) return '?';
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(shades.size() - 1);
  return shades[static_cast<size_t>(std::lround(at))];
}

// Dark blue over green to yellow with monotonic brightness, so that it is readable without color vision
// (five points of viridis; van der Walt & Smith, 2015).
Rgb heat_color(double share) {
  constexpr std::array<Rgb, 5> points{{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
  if (std::isnan(share)) return {128, 128, 128};
  const double at = std::clamp(share, 0.0, 1.0) * (points.size() - 1);
  const size_t low = std::min(static_cast<size_t>(at), points.size() - 2);
  const auto mix = [&](int from, int to) {
    return static_cast<int>(std::lround(from + (to - from) * (at - static_cast<double>(low))));
  };
  const Rgb &a = points[low], &b = points[low + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

bool is_bright(const Rgb& color) {
  return 299 * color.red + 587 * color.green + 114 * color.blue > 128 * 1000;  // luma of ITU-R BT.601
}

std::string tinted(const std::string& text, double share, Colors colors) {
  if (colors == Colors::none) return text;
  const Rgb back = heat_color(share);
  std::ostringstream out;
  if (colors == Colors::full)
    out << "\x1b[48;2;" << back.red << ';' << back.green << ';' << back.blue << 'm';
  else
    out << "\x1b[48;5;" << in_palette(back) << 'm';
  out << "\x1b[38;5;" << (is_bright(back) ? 16 : 231) << 'm' << text << "\x1b[0m";
  return out.str();
}

void print_numbers(std::ostream& out, const Grid& grid) {
  print_grid(out, grid, [](double value, int columns) { return padded_left(fixed(value, 2), columns) + ' '; });
}

void print_heat(std::ostream& out, const Grid& grid, Colors colors) {
  print_grid(out, grid, [&](double value, int columns) {
    const std::string number = fixed(value, 2);
    if (colors != Colors::none) return tinted(padded_left(number, columns) + ' ', value, colors);
    return padded_left(std::string(2, shade(value)) + ' ' + number, columns) + ' ';
  });
}

int heat_width(const Grid& grid) {
  int columns = 2 + first_width(grid);
  for (const int width : widths_of(grid)) columns += width + 1;
  return columns;
}

}  // namespace heed::cli
