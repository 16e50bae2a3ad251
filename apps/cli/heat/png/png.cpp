#include "apps/cli/heat/png/png.h"

#include "apps/cli/heat/png/canvas.h"
#include "apps/cli/heat/png/layout.h"

namespace heed::cli {
namespace {

constexpr int kNumberCell = 30;  // from this size on, cells show numbers
constexpr int kLinedCell = 8;    // from this size on, lines separate cells

/// One picture of one map.
class Picture {
 public:
  explicit Picture(const HeatMap& map) : map_(map), at_(layout_of(map, type_)), canvas_(at_.width, at_.height) {
    const auto title = type_.fitted(printable(map.title), kTitleLetters, at_.width - 2 * kEdge);
    write(title, kTitleLetters, kEdge, kEdge + kTitleLetters, 0, kInk);
    const int above = title.empty() ? 0 : kTitleLetters + kGap;
    write(printable(map.remark), kScaleLetters, kEdge, kEdge + above + kScaleLetters, 0, kInk);
    if (map.rows.empty() || map.columns.empty()) {
      const std::string side = map.columns.empty() ? map.column_name : map.row_name;
      write("no words on the " + side + " side", kScaleLetters, kEdge, at_.top + kScaleLetters, 0, kInk);
      return;
    }
    draw_words();
    for (size_t i = 0; i < map.rows.size(); ++i)
      for (size_t j = 0; j < map.columns.size(); ++j) draw_cell(i, j);
    draw_scale();
    int y = note_top(at_.scale_top) + kScaleLetters;
    for (const auto& line : at_.note) {
      write(line, kScaleLetters, kEdge, y, 0, kInk);
      y += kScaleLetters + kGap;
    }
  }

  const Canvas& canvas() const { return canvas_; }

 private:
  void write(const std::string& text, int letters, int x, int y, double degrees, const Rgb& color) {
    type_.draw(text, letters, x, y, degrees, [&](int px, int py, int cover) { canvas_.blend(px, py, color, cover); });
  }

  void draw_words() {
    const int letters = at_.letters, below = at_.cell / 2 + letters * 35 / 100;  // a baseline that centers lower case
    for (size_t i = 0; i < map_.rows.size(); i += static_cast<size_t>(at_.every)) {
      const auto label = label_of(map_.rows[i], type_, letters);
      write(label, letters, at_.left - kGap - type_.width(label, letters),
            at_.top + static_cast<int>(i) * at_.cell + below, 0, kInk);
    }
    const int aside = at_.degrees < 90 ? at_.cell / 2 : below;
    for (size_t j = 0; j < map_.columns.size(); j += static_cast<size_t>(at_.every))
      write(label_of(map_.columns[j], type_, letters), letters, at_.left + static_cast<int>(j) * at_.cell + aside,
            at_.top - kGap, at_.degrees, kInk);
  }

  void draw_cell(size_t i, size_t j) {
    const double weight = map_.weights[i][j];
    const Rgb color = heat_color(weight / map_.top);
    const int x = at_.left + static_cast<int>(j) * at_.cell, y = at_.top + static_cast<int>(i) * at_.cell;
    const int side = at_.cell - (at_.cell >= kLinedCell ? 1 : 0);
    canvas_.fill(x, y, side, side, color);
    const auto number = fixed(weight, 2);
    if (at_.cell < kNumberCell || number == "0.00") return;
    const int letters = at_.cell * 32 / 100, width = type_.width(number, letters);
    if (width < side)
      write(number, letters, x + (side - width) / 2, y + side / 2 + letters * 36 / 100, 0,
            is_bright(color) ? kInk : kPaper);
  }

  void draw_scale() {
    for (int x = 0; x < kScaleWidth; ++x)
      canvas_.fill(at_.left + x, at_.scale_top, 1, kScaleHeight, heat_color(x / (kScaleWidth - 1.0)));
    const int y = at_.scale_top + kScaleHeight + kScaleLetters + 2;
    for (const double share : {0.0, 0.5, 1.0}) {
      const auto text = share == 0 ? "0" : fixed(map_.top * share, map_.top < 0.1 ? 4 : 2);
      const int width = type_.width(text, kScaleLetters);
      write(text, kScaleLetters, at_.left + static_cast<int>(share * (kScaleWidth - width)), y, 0, kInk);
    }
  }

  const HeatMap& map_;
  Type type_;
  Layout at_;
  Canvas canvas_;
};

}  // namespace

void write_png(const std::string& path, const HeatMap& map) {
  check_heat_map(map);
  const Picture picture(map);
  picture.canvas().write(path);
}

}  // namespace heed::cli
