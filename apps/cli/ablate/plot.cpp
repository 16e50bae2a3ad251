#include "apps/cli/ablate/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "apps/cli/amount_text.h"
#include "apps/cli/html_text.h"
#include "apps/cli/screen.h"
#include "apps/cli/svg.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

std::string svg_dot(double x, double y, bool full, const std::string& tip) {
  return R"(<circle class=")" + std::string(full ? "full" : "hollow") + R"(" cx=")" + at1(x) + R"(" cy=")" + at1(y) +
         R"(" r="4"><title>)" + html_text(tip) + "</title></circle>\n";
}

/// A row of the table that has a quality.
struct PlottedCell {
  size_t row;  // from 1
  const CellSummary* cell;
  const SeedFigures* quality;

  std::string title() const { return std::to_string(row) + "  " + joined(cell->cell.values, ", "); }
  bool differs() const { return cell->differs_from_first(); }
};

std::vector<PlottedCell> plotted_cells(const AblationSummary& summary) {
  std::vector<PlottedCell> all;
  if (summary.figures.empty()) return all;
  for (size_t i = 0; i < summary.cells.size(); ++i)
    if (const auto& quality = summary.cells[i].figures.front(); std::isfinite(quality.mean))
      all.push_back({i + 1, &summary.cells[i], &quality});
  return all;
}

/// From the smallest to the largest value of a seed, and as much of the intervals as stays near to that.
PlotAxis quality_axis(const std::vector<PlottedCell>& cells, double begin, double end) {
  double low = std::numeric_limits<double>::infinity(), high = -low, far_low = low, far_high = high;
  for (const auto& one : cells) {
    for (const auto& [seed, value] : one.quality->values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (std::isfinite(one.quality->low)) far_low = std::min(far_low, one.quality->low);
    if (std::isfinite(one.quality->high)) far_high = std::max(far_high, one.quality->high);
  }
  const double span = std::max(high - low, 1e-3 * std::max(1.0, std::abs(high)));
  return {std::max(low - span, std::min(far_low, low - 0.1 * span)),
          std::min(high + span, std::max(far_high, high + 0.1 * span)), begin, end};
}

std::string tick_text(const Figure& figure, double value, double step) {
  const double scale = figure.share ? 100 : 1;
  return fixed(scale * value, digits_of_step(scale * step)) + (figure.share ? " %" : "");
}

std::string tip_of(const Figure& figure, const PlottedCell& one) {
  std::string text = one.title() + ": " + figure_text(figure, one.quality->mean);
  if (std::isfinite(one.quality->low))
    text += ", " + figure_text(figure, one.quality->low) + " to " + figure_text(figure, one.quality->high);
  return text;
}

/// The interval, with a cap at each end that is on the axis.
std::string horizontal_interval(const PlotAxis& x, const SeedFigures& quality, double y) {
  if (!std::isfinite(quality.low)) return "";
  std::string out = svg_line(x.at(quality.low), y, x.at(quality.high), y, "range");
  for (const double end : {quality.low, quality.high})
    if (end >= x.low && end <= x.high) out += svg_line(x.at(end), y - 3, x.at(end), y + 3, "range");
  return out;
}

struct Box {
  double left, top, right, bottom;
  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// Coordinates for the label of a dot, next to it where no other label or dot is; `taken` gets it.
std::pair<double, double> label_position(double x, double y, size_t letters, std::vector<Box>& taken) {
  const double width = kLetter * static_cast<double>(letters), height = 10;
  Box box{};
  const std::vector<std::pair<double, double>> offsets{{7, -4},  {-7 - width, -4},  {7, 12}, {-7 - width, 12},
                                                       {7, -14}, {-7 - width, -14}, {7, 22}, {-7 - width, 22}};
  for (const auto& [dx, dy] : offsets) {
    box = {x + dx, y + dy - height, x + dx + width, y + dy};
    if (std::none_of(taken.begin(), taken.end(), [&](const Box& other) { return box.overlaps(other); })) break;
  }
  taken.push_back(box);
  return {box.left, box.bottom};
}

}  // namespace

std::string quality_plot(const AblationSummary& summary) {
  const auto cells = plotted_cells(summary);
  if (cells.empty()) return "";
  constexpr double kRow = 32, kTop = 6, kAxis = 22;
  const Figure& figure = summary.figures.front();
  const PlotAxis x = quality_axis(cells, 8, kPlotWidth - 8);
  const double bottom = kTop + kRow * static_cast<double>(cells.size());
  const auto ticks = axis_ticks(x.low, x.high, 5);
  std::string out;
  for (const double tick : ticks) {
    out += svg_line(x.at(tick), kTop, x.at(tick), bottom, "grid");
    const std::string text = tick_text(figure, tick, step_of(ticks));
    const double half = kLetter * static_cast<double>(text.size()) / 2;
    out += svg_text(std::clamp(x.at(tick), half, kPlotWidth - half), bottom + 14, "middle", text);
  }
  if (cells.front().row == 1)
    out += svg_line(x.at(cells.front().quality->mean), kTop, x.at(cells.front().quality->mean), bottom, "first");
  double y = kTop;
  for (const auto& one : cells) {
    out += svg_text(4, y + 12, "start", shortened(one.title(), static_cast<int>(kPlotWidth / kLetter)));
    out += horizontal_interval(x, *one.quality, y + 22);
    for (const auto& [seed, value] : one.quality->values)
      out += svg_line(x.at(value), y + 17, x.at(value), y + 27, "seed");
    out += svg_dot(x.at(one.quality->mean), y + 22, one.differs(), tip_of(figure, one));
    y += kRow;
  }
  return svg_of(figure_title(figure) + " of every cell with intervals over seeds", bottom + kAxis, out);
}

std::string speed_plot(const AblationSummary& summary) {
  auto cells = plotted_cells(summary);
  std::erase_if(cells, [](const auto& one) { return !one.cell->tokens_per_second; });
  if (cells.empty()) return "";
  constexpr double kHeight = 300, kLeft = 48, kBottom = 262, kTop = 10;
  const Figure& figure = summary.figures.front();
  double fastest = 0;
  for (const auto& one : cells) fastest = std::max(fastest, *one.cell->tokens_per_second);
  const PlotAxis x{0, 1.08 * fastest, kLeft, kPlotWidth - 8}, y = quality_axis(cells, kBottom, kTop);
  std::string out;
  const auto across = axis_ticks(x.low, x.high, 5), up = axis_ticks(y.low, y.high, 5);
  for (const double tick : up) {
    out += svg_line(kLeft, y.at(tick), kPlotWidth - 8, y.at(tick), "grid");
    out += svg_text(kLeft - 4, y.at(tick) + 4, "end", tick_text(figure, tick, step_of(up)));
  }
  for (const double tick : across) {
    out += svg_line(x.at(tick), kTop, x.at(tick), kBottom, "grid");
    out += svg_text(x.at(tick), kBottom + 14, "middle", with_commas(tick));
  }
  out += svg_text((kLeft + kPlotWidth) / 2, kBottom + 30, "middle", "tokens per second");
  std::vector<Box> taken;
  for (const auto& one : cells) {
    const double px = x.at(*one.cell->tokens_per_second), py = y.at(one.quality->mean);
    taken.push_back({px - 4, py - 4, px + 4, py + 4});
  }
  for (const auto& one : cells) {
    const double px = x.at(*one.cell->tokens_per_second), py = y.at(one.quality->mean);
    if (std::isfinite(one.quality->low))
      out += svg_line(px, y.at(one.quality->low), px, y.at(one.quality->high), "range thin");
    out += svg_dot(px, py, one.differs(),
                   tip_of(figure, one) + ", " + with_commas(*one.cell->tokens_per_second) + " tokens/s");
    const std::string number = std::to_string(one.row);
    const auto [left, base] = label_position(px, py, number.size(), taken);
    out += svg_text(left, base, "start", number);
  }
  return svg_of(figure_title(figure) + " against tokens per second", kHeight, out);
}

}  // namespace heed::cli
