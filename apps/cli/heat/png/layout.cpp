#include "apps/cli/heat/png/layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "heed/base/check.h"

namespace heed::cli {
namespace {

constexpr int kSide = 1280;  // maximum side of all cells together
constexpr int kLargestCell = 52, kSmallestLetters = 9, kLargestLetters = 18;
constexpr int kSlantedCell = 20;  // from this cell size on, source words are slanted instead of vertical
constexpr int kLongestLabel = 240, kMaxWords = 8000;

}  // namespace

std::string label_of(const std::string& word, Type& type, int letters) {
  return type.fitted(printable(word), letters, kLongestLabel);
}

Layout layout_of(const HeatMap& map, Type& type) {
  const int columns = static_cast<int>(map.columns.size()), rows = static_cast<int>(map.rows.size());
  const int max = std::max({columns, rows, 1});
  check(max <= kMaxWords, "heat map: got ", max, " words on one side, expected at most ", kMaxWords,
        " for PNG; use --html, which can be scrolled");
  Layout at;
  at.cell = std::clamp(kSide / max, 1, kLargestCell);
  at.letters = std::clamp(at.cell * 6 / 10, kSmallestLetters, kLargestLetters);
  at.every = std::max(1, (at.letters + 2 + at.cell - 1) / at.cell);
  at.degrees = at.cell >= kSlantedCell ? 45 : 90;

  int widest = 0;
  for (int i = 0; i < rows; i += at.every)
    widest = std::max(widest, type.width(label_of(map.rows[static_cast<size_t>(i)], type, at.letters), at.letters));
  const double angle = at.degrees * std::numbers::pi / 180;
  double rise = 0, reach = columns * at.cell;  // extent of the source words: upwards, and right of the first cell
  for (int j = 0; j < columns; j += at.every) {
    const double width = type.width(label_of(map.columns[static_cast<size_t>(j)], type, at.letters), at.letters);
    rise = std::max(rise, width * std::sin(angle) + at.letters * std::cos(angle));
    reach = std::max(reach, (j + 0.5) * at.cell + width * std::cos(angle) + at.letters);
  }
  const int head = (map.title.empty() ? 0 : kTitleLetters + 2 * kGap) + (map.remark.empty() ? 0 : kScaleLetters + kGap);
  at.left = kEdge + widest + kGap;
  at.top = kEdge + head + static_cast<int>(std::ceil(rise)) + kGap;
  at.scale_top = at.top + rows * at.cell + 2 * kGap;
  const int title = std::min(type.width(printable(map.title), kTitleLetters), 2 * kLongestLabel);
  const int remark = type.width(printable(map.remark), kScaleLetters);
  const int right = std::max({at.left + static_cast<int>(std::ceil(reach)), at.left + kScaleWidth,
                              kEdge + std::max({title, remark, note_width(map.note, type)})});
  at.width = right + kEdge;
  at.note = lines_of(printable(map.note), type, kScaleLetters, right - kEdge);
  at.height = at.scale_top + kScaleHeight + kScaleLetters + kGap + note_height(at.note) + kEdge;
  return at;
}

std::vector<std::string> lines_of(const std::string& text, Type& type, int letters, int width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::string longer = lines.empty() ? word : lines.back() + " " + word;
    if (lines.empty() || type.width(longer, letters) > width)
      lines.push_back(type.fitted(word, letters, width));
    else
      lines.back() = longer;
  }
  return lines;
}

int note_width(const std::string& note, Type& type) {
  constexpr int kNoteWidth = 480;
  return std::min(kNoteWidth, type.width(printable(note), kScaleLetters));
}

int note_height(const std::vector<std::string>& lines) {
  return lines.empty() ? 0 : kGap + static_cast<int>(lines.size()) * (kScaleLetters + kGap);
}

int note_top(int scale_top) {
  return scale_top + kScaleHeight + kScaleLetters + 2 * kGap;
}

}  // namespace heed::cli
