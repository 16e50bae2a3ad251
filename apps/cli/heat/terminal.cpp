// Prints a heat map on a terminal, in the largest format that fits.

#include "apps/cli/explain/terminal.h"

#include <algorithm>
#include <cmath>

#include "apps/cli/heat/heat_map.h"

#include "heed/base/check.h"
#include "heed/base/utf8.h"

namespace heed::cli {
namespace {

constexpr int kMargin = 2;                // columns on the left
constexpr int kMinColumns = 24;           // of a terminal
constexpr int kMaxLetters = 14;           // of a vertical word
constexpr int kShades = 2, kPerCent = 4;  // columns of a cell

/// The letters of a vertical word, each with its combining marks.
std::vector<std::string> letters_of(const std::string& word) {
  std::vector<std::string> letters;
  for (const char32_t character : decoded(word)) {
    const auto letter = encoded(character);
    if (letters.empty() || display_width(letter) > 0)
      letters.push_back(letter);
    else
      letters.back() += letter;
  }
  if (letters.size() <= kMaxLetters) return letters;
  letters.resize(kMaxLetters - 1);
  letters.emplace_back("⋮");
  return letters;
}

std::string strongest(const HeatMap& map, size_t row) {
  size_t best = map.columns.size();
  for (size_t j = 0; j < map.columns.size(); ++j)
    if (!std::isnan(map.weights[row][j]) &&
        (best == map.columns.size() || map.weights[row][j] > map.weights[row][best]))
      best = j;
  return best == map.columns.size() ? "nothing" : map.columns[best] + ' ' + fixed(map.weights[row][best], 2);
}

std::string per_cent(double weight) {
  const auto text = std::isnan(weight) ? "nan" : fixed(100 * weight, 0);
  return text == "0" ? "·" : text;
}

/// One cell of `width` columns: shades or colors in two, a percentage in four.
std::string cell(const HeatMap& map, double weight, int width, Colors colors) {
  const double share = weight / map.top;
  if (width == kPerCent) return tinted(padded_left(per_cent(weight), kPerCent - 1) + ' ', share, colors);
  if (colors == Colors::none || std::isnan(share)) return std::string(kShades, shade(share));
  return tinted(std::string(kShades, ' '), share, colors);
}

bool fits_per_cent(const HeatMap& map) {
  for (const auto& row : map.weights)
    for (const double weight : row)
      if (display_width(per_cent(weight)) > kPerCent - 1) return false;
  return true;
}

/// Source words first ... last - 1, vertical and aligned at the bottom.
void print_heads(std::ostream& out, const HeatMap& map, size_t first, size_t last, int width, int label) {
  std::vector<std::vector<std::string>> words;
  size_t height = 0;
  for (size_t j = first; j < last; ++j) {
    words.push_back(letters_of(map.columns[j]));
    height = std::max(height, words.back().size());
  }
  for (size_t i = 0; i < height; ++i) {
    const bool named = width == kPerCent && i + 1 == height;  // labels the numbers
    std::string line = std::string(kMargin, ' ') + padded(named ? "%" : "", label);
    for (const auto& letters : words) {
      const size_t above = height - letters.size();
      const auto letter = i < above ? "" : letters[i - above];
      line += width == kShades ? padded(letter, kShades) : padded_left(letter, kPerCent - 1) + ' ';
    }
    out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
  }
}

void print_scale(std::ostream& out, const HeatMap& map, int label, Colors colors) {
  constexpr int kSteps = 10;
  out << std::string(static_cast<size_t>(kMargin + label), ' ') << "0 ";
  for (int i = 0; i < kSteps; ++i) out << cell(map, map.top * i / (kSteps - 1), kShades, colors);
  out << ' ' << (map.top == 1 ? "1" : fixed(map.top, 2)) << '\n';
}

/// Vertical words, in blocks of as many source words as fit into the terminal.
void print_blocks(std::ostream& out, const HeatMap& map, Colors colors, int columns, int label) {
  const auto max = [&](int width) { return std::max(1, (columns - kMargin - label) / width); };
  const int words = static_cast<int>(map.columns.size());
  const int width = words <= max(kPerCent) && fits_per_cent(map) ? kPerCent : kShades;
  const auto step = static_cast<size_t>(max(width));
  const bool whole = step >= map.columns.size();
  for (size_t first = 0; first < map.columns.size(); first += step) {
    const size_t last = std::min(first + step, map.columns.size());
    if (!whole)
      out << (first > 0 ? "\n" : "") << "  " << map.column_name << " words " << first + 1 << " to " << last << " of "
          << words << '\n';
    print_heads(out, map, first, last, width, label);
    for (size_t i = 0; i < map.rows.size(); ++i) {
      std::string line = std::string(kMargin, ' ') + padded(shortened(map.rows[i], label - 1), label);
      for (size_t j = first; j < last; ++j) line += cell(map, map.weights[i][j], width, colors);
      const auto note = "  " + strongest(map, i);
      const int used = kMargin + label + static_cast<int>(last - first) * width;
      if (whole && width == kShades && used + display_width(note) <= columns) line += note;
      out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
    }
  }
  if (width == kShades) print_scale(out, map, label, colors);
}

/// The map with control characters in its texts replaced.
HeatMap with_printable_words(HeatMap map) {
  map.title = printable(map.title);
  map.remark = printable(map.remark);
  map.note = printable(map.note);
  for (auto* words : {&map.columns, &map.rows})
    for (auto& word : *words) word = printable(word);
  return map;
}

}  // namespace

std::string titled(const HeatMap& map) {
  const std::string remark = map.remark.empty() ? "" : "(" + map.remark + ")";
  return map.title + (map.title.empty() || remark.empty() ? "" : " ") + remark;
}

void check_heat_map(const HeatMap& map) {
  check(map.weights.size() == map.rows.size(), "heat map: got ", map.weights.size(), " rows of weights, expected ",
        map.rows.size(), ", one for each target word");
  for (size_t i = 0; i < map.rows.size(); ++i)
    check(map.weights[i].size() == map.columns.size(), "heat map: got ", map.weights[i].size(), " weights in row ",
          i + 1, ", expected ", map.columns.size(), ", one for each source word");
  check(map.top > 0 && std::isfinite(map.top), "heat map: got ", map.top,
        " as the brightest weight, expected a finite number above 0");
}

void print_heat_map(std::ostream& out, const HeatMap& given, Colors colors, int columns) {
  check_heat_map(given);
  const auto map = with_printable_words(given);
  columns = std::max(columns, kMinColumns);
  if (const auto title = titled(map); !title.empty()) out << title << '\n';
  if (map.rows.empty() || map.columns.empty()) {
    out << "  no words on the " << (map.columns.empty() ? map.column_name : map.row_name) << " side\n";
    return;
  }
  const Grid grid{"", map.columns, map.rows, map.weights, "", {}};
  if (map.top == 1 && heat_width(grid) <= columns) {
    print_heat(out, grid, colors);
  } else {
    int label = 0;
    for (const auto& row : map.rows) label = std::max(label, display_width(row) + 1);
    print_blocks(out, map, colors, columns, std::min(label, columns / 3));
  }
  if (!map.note.empty()) out << wrapped(map.note, columns, std::string(kMargin, ' ')) << '\n';
}

}  // namespace heed::cli
