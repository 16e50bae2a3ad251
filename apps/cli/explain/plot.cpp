#include "apps/cli/explain/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include "apps/cli/amount_text.h"
#include "apps/cli/explain/number.h"
#include "apps/cli/html_text.h"
#include "apps/cli/screen.h"
#include "apps/cli/svg.h"

#include "heed/base/check.h"

namespace heed::cli {

const std::string_view kPlotStyle = R"(
:root { --s0: #1a66c2; --s1: #b3500a; --s2: #16795a; --s3: #8e3a9d; --s4: #7a6200; --s5: #4d5359; --s6: #00708a; --s7: #c2185b; }
@media (prefers-color-scheme: dark) { :root { --s0: #7ab4ff; --s1: #ffab6b; --s2: #5fd3a9; --s3: #dd9bea; --s4: #e0c341; --s5: #b4bac0; --s6: #6fd6ec; --s7: #ff8fb8; } }
@media print { :root { --s0: #1a66c2; --s1: #b3500a; --s2: #16795a; --s3: #8e3a9d; --s4: #7a6200; --s5: #4d5359; --s6: #00708a; --s7: #c2185b; } }
svg .s0 { color: var(--s0); } svg .s1 { color: var(--s1); } svg .s2 { color: var(--s2); }
svg .s3 { color: var(--s3); } svg .s4 { color: var(--s4); } svg .s5 { color: var(--s5); } svg .s6 { color: var(--s6); } svg .s7 { color: var(--s7); }
svg .dot { fill: currentColor; }
svg .hull { fill: currentColor; fill-opacity: .28; stroke: currentColor; stroke-width: 1; }
svg .path { fill: none; stroke: currentColor; stroke-width: 1.8; }
svg .axis { stroke: var(--faint); stroke-width: 1; }
svg .whisker { stroke: var(--ink); stroke-width: 1; }
svg .box { fill: var(--ink); }
svg .median { fill: var(--paper); stroke: var(--ink); stroke-width: 1.5; }
svg .side { fill: var(--faint); }
)";

namespace {

using Points = std::vector<std::pair<double, double>>;
using DrawnKind = ExplanationPlot::Kind;

constexpr double kWidth = 350;  // as wide as a phone: letters keep their size there
constexpr double kRight = kWidth - 8;
constexpr double kDrawable = 1e100;  // larger values have no position
constexpr size_t kColorCount = 8, kShapeCount = 5;
constexpr double kPlotHeight = 220;  // between the axes

bool is_drawable(double value) {
  return std::abs(value) < kDrawable;  // false of NaN
}

/// Points that have a position; of a violin x is 0.
Points points_of(const ExplanationPlot::Series& series, DrawnKind kind) {
  Points kept;
  for (const auto& [x, y] : series.points)
    if (is_drawable(y) && (kind == DrawnKind::violin || is_drawable(x)))
      kept.emplace_back(kind == DrawnKind::violin ? 0 : x, y);
  if (kind == DrawnKind::curve)
    std::stable_sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return kept;
}

/// Ends of an axis for values from low to high: 0 and 1 where they are near, else a little more than the values.
void widen(double& low, double& high) {
  if (!(low <= high)) low = 0, high = 1;
  const double first = low, last = high, size = std::max(std::abs(low), std::abs(high));
  const double pad = high - low > 1e-9 * size ? 0.04 * (high - low) : size > 0 ? 0.25 * size : 0.5;
  low -= pad;
  high += pad;
  if (first >= 0 && (low < 0 || first < 0.3 * last)) low = 0;
  if (last <= 1 && last > 0.85 && high > 1) high = 1;
}

std::string class_of(size_t series) {
  return "s" + std::to_string(series % kColorCount);
}

std::string tick_label(double value, double step) {
  constexpr double kSmall = 1e-5, kLarge = 1e7;
  if (std::abs(value) < 1e-9 * step) return "0";
  if (step >= kSmall && std::abs(value) < kLarge) return fixed(value, digits_of_step(step));
  std::ostringstream text;
  text.precision(3);
  text << value;
  return text.str();
}

std::string title_element(const std::string& text) {
  return "<title>" + html_text(text) + "</title>";
}

/// Horizontal ticks with lines of a grid between two heights, and the name of the axis below.
std::string horizontal_axis(const PlotAxis& x, const std::string& name, double top, double bottom) {
  std::string out;
  const auto ticks = axis_ticks(x.low, x.high, 5);
  for (const double tick : ticks) {
    out += svg_line(x.at(tick), top, x.at(tick), bottom, "grid");
    const std::string label = tick_label(tick, step_of(ticks));
    const double half = kLetter * static_cast<double>(label.size()) / 2;
    out += svg_text(std::clamp(x.at(tick), half, kWidth - half), bottom + 14, "middle", label);
  }
  out += svg_line(x.begin, bottom, x.end, bottom, "axis");
  return out + svg_text((x.begin + x.end) / 2, bottom + 30, "middle",
                        shortened(printable(name), static_cast<int>((x.end - x.begin) / kLetter)));
}

// ---- violins ----

/// Of sorted values, between those that are next to it.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

/// A Gaussian density at equal distances from the first to the last value, with Silverman's bandwidth; the largest
/// is 1.
std::vector<double> density_of(const std::vector<double>& sorted) {
  constexpr size_t kBins = 120;
  const double low = sorted.front(), span = sorted.back() - low, n = static_cast<double>(sorted.size());
  std::array<double, kBins + 1> count{};
  double mean = 0, square = 0;
  for (const double value : sorted) {
    const double share = (value - low) / span;
    ++count.at(static_cast<size_t>(std::lround(share * kBins)));
    mean += share / n;
    square += share * share / n;
  }
  const double deviation = std::sqrt(std::max(0.0, square - mean * mean));
  const double middle = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / span / 1.34;
  const double width =
      std::max(0.9 * (middle > 0 ? std::min(deviation, middle) : deviation) * std::pow(n, -0.2), 0.75 / kBins);
  std::vector<double> density(kBins + 1, 0);
  for (size_t i = 0; i <= kBins; ++i)
    for (size_t j = 0; j <= kBins; ++j) {
      const double distance = (static_cast<double>(i) - static_cast<double>(j)) / kBins / width;
      density[i] += count.at(j) * std::exp(-0.5 * distance * distance);
    }
  const double top = *std::max_element(density.begin(), density.end());
  for (double& one : density) one /= top;
  return density;
}

/// The outline of a density around a height.
std::string hull(const std::vector<double>& density, const PlotAxis& x, double low, double high, double y,
                 double half) {
  std::string points;
  const size_t last = density.size() - 1;
  const auto add = [&](size_t i, double height) {
    points += at1(x.at(low + (high - low) * static_cast<double>(i) / static_cast<double>(last)));
    points += " ";
    points += at1(height);
    points += " ";
  };
  for (size_t i = 0; i <= last; ++i) add(i, y - half * density[i]);
  for (size_t i = last + 1; i-- > 0;) add(i, y + half * density[i]);
  return R"(<polygon class="hull" points=")" + points + "\"/>\n";
}

DrawnPlot violins(const ExplanationPlot& plot, const PlotRange& range) {
  constexpr double kViolinRow = 46, kHalf = 13, kTop = 4;
  constexpr size_t kMinHull = 8;  // values; a density of fewer says too much
  bool few = false;
  const PlotAxis x{range.y_low, range.y_high, 8, kRight};
  const double bottom = kTop + kViolinRow * static_cast<double>(plot.series.size()) + 2;
  std::string out = horizontal_axis(x, plot.y_name, kTop, bottom), label = plot.title;
  double y = kTop;
  for (size_t s = 0; s < plot.series.size(); ++s, y += kViolinRow) {
    std::vector<double> values;
    for (const auto& [none, value] : points_of(plot.series[s], plot.kind)) values.push_back(value);
    std::sort(values.begin(), values.end());
    std::string about = values.empty() ? "no values" : with_commas(static_cast<double>(values.size()));
    if (!values.empty()) about += ", median " + number_text(quantile(values, 0.5));
    const std::string name = printable(plot.series[s].name);
    const int letters = static_cast<int>((kWidth - 16) / kLetter) - display_width(about) - 2;
    out += svg_text(8, y + 11, "start", shortened(name, letters));
    out += svg_text(kRight, y + 11, "end", about);
    const std::string named = joined({name, about}, ": ");
    label += "; ";
    label += named;
    if (values.empty()) continue;
    few = few || values.size() < kMinHull;
    const double low = values.front(), high = values.back(), at = y + 29;
    const double q1 = quantile(values, 0.25), q2 = quantile(values, 0.5), q3 = quantile(values, 0.75);
    out += "<g class=\"" + class_of(s) + "\">" +
           title_element(named + ", quartiles " + number_text(q1) + " and " + number_text(q3) + ", from " +
                         number_text(low) + " to " + number_text(high));
    if (values.size() < kMinHull)
      for (const double value : values)
        out += joined(
            {R"(<circle class="dot" opacity="0.6" r="5" cx=")", at1(x.at(value)), "\" cy=\"", at1(at), "\"/>\n"}, "");
    else if (high > low)
      out += hull(density_of(values), x, low, high, at, kHalf);
    out += svg_line(x.at(low), at, x.at(high), at, "whisker");
    out += R"(<rect class="box" x=")" + at1(x.at(q1)) + "\" y=\"" + at1(at - 2.5) + "\" width=\"" +
           at1(std::max(0.5, x.at(q3) - x.at(q1))) + "\" height=\"5\"/>\n";
    out += R"(<circle class="median" cx=")" + at1(x.at(q2)) + "\" cy=\"" + at1(at) + "\" r=\"3.5\"/></g>\n";
  }
  std::string caption = "Line: all values; box: the middle half; dot: median; width: how many are there.";
  if (few) caption += " Fewer than " + std::to_string(kMinHull) + " values are drawn as dots.";
  if (!plot.x_name.empty()) caption = "Rows: " + plot.x_name + ". " + caption;
  return {svg_of(label, bottom + 36, out, kWidth), caption};
}

// ---- points and curves ----

std::string shape_of(size_t series, double x, double y, double r, const std::string& rest) {
  const auto move = [&](double dx, double dy) { return at1(x + r * dx) + " " + at1(y + r * dy) + " "; };
  const std::string polygon = R"(<polygon class="dot" points=")";
  switch (series % kShapeCount) {
    case 1:
      return R"(<rect class="dot" x=")" + at1(x - r) + "\" y=\"" + at1(y - r) + "\" width=\"" + at1(2 * r) +
             "\" height=\"" + at1(2 * r) + "\"" + rest;
    case 2:
      return polygon + move(0, -1.2) + move(1.1, 0.9) + move(-1.1, 0.9) + "\"" + rest;
    case 3:
      return polygon + move(0, -1.3) + move(1.3, 0) + move(0, 1.3) + move(-1.3, 0) + "\"" + rest;
    case 4:
      return polygon + move(0, 1.2) + move(1.1, -0.9) + move(-1.1, -0.9) + "\"" + rest;
    default:
      return R"(<circle class="dot" cx=")" + at1(x) + "\" cy=\"" + at1(y) + "\" r=\"" + at1(r) + "\"" + rest;
  }
}

/// Names of series with their shapes, in lines; `y` is moved below it.
std::string legend_of(const ExplanationPlot& plot, double& y) {
  constexpr int kMaxName = 44;
  if (plot.series.size() < 2) return "";
  std::string out;
  double x = 8;
  for (size_t s = 0; s < plot.series.size(); ++s) {
    const std::string name = shortened(printable(plot.series[s].name), kMaxName);
    const double width = 18 + kLetter * display_width(name);
    if (x > 8 && x + width > kRight) x = 8, y += 16;
    out += "<g class=\"" + class_of(s) + "\">" + shape_of(s, x + 5, y + 6, 3.5, "/>") +
           svg_text(x + 14, y + 10, "start", name) + "</g>\n";
    x += width + 10;
  }
  y += 20;
  return out;
}

/// Where points of a series are drawn, in half units of the drawing, with their number.
using DrawnPoints = std::map<std::pair<int64_t, int64_t>, int64_t>;

/// Every point, those at the same position as one; or where there are too many, every n-th of each series.
struct ChosenPoints {
  std::vector<DrawnPoints> series{};
  size_t all = 0, step = 1;
  size_t count() const {
    size_t sum = 0;
    for (const auto& one : series) sum += one.size();
    return sum;
  }
};

ChosenPoints chosen_points(const std::vector<Points>& series, const PlotAxis& x, const PlotAxis& y) {
  constexpr size_t kMaxShapes = 3000;
  ChosenPoints chosen;
  for (size_t step = 1;; ++step) {
    chosen = {std::vector<DrawnPoints>(series.size()), 0, step};
    for (size_t s = 0; s < series.size(); ++s) {
      chosen.all += series[s].size();
      for (size_t i = 0; i < series[s].size(); i += step)
        ++chosen.series[s][{std::llround(2 * x.at(series[s][i].first)), std::llround(2 * y.at(series[s][i].second))}];
    }
    if (chosen.count() <= kMaxShapes) return chosen;
    step += chosen.count() / kMaxShapes - 1;
  }
}

std::string scattered(const std::vector<Points>& series, const PlotAxis& x, const PlotAxis& y, std::string& caption) {
  constexpr double kMaxOpacity = 0.95;
  constexpr size_t kMany = 1000;
  const ChosenPoints chosen = chosen_points(series, x, y);
  const bool many = chosen.count() > kMany;
  const double cover = many ? 0.3 : 0.45, radius = many ? 1.5 : 2.2;
  std::string out;
  for (size_t s = 0; s < series.size(); ++s) {
    if (series[s].empty()) continue;
    out += "<g class=\"" + class_of(s) + "\">\n";
    for (const auto& [at, count] : chosen.series[s]) {
      const double opacity = std::min(kMaxOpacity, 1 - std::pow(1 - cover, static_cast<double>(count)));
      out += shape_of(s, static_cast<double>(at.first) / 2, static_cast<double>(at.second) / 2, radius,
                      " opacity=\"" + fixed(opacity, 2) + "\"/>\n");
    }
    out += "</g>\n";
  }
  caption = with_commas(static_cast<double>(chosen.all)) + (chosen.all == 1 ? " point." : " points.");
  if (chosen.step > 1) caption += " One of " + std::to_string(chosen.step) + " is drawn.";
  return out;
}

std::string curves(const ExplanationPlot& plot, const std::vector<Points>& series, const PlotAxis& x,
                   const PlotAxis& y) {
  constexpr std::array<const char*, 4> kDashes{"", "6 3", "2 3", "8 3 2 3"};
  constexpr size_t kMaxMarkers = 60;
  std::string out;
  for (size_t s = 0; s < series.size(); ++s) {
    if (series[s].empty()) continue;
    std::string points, dots;
    for (const auto& [px, py] : series[s]) {
      points += joined({at1(x.at(px)), at1(y.at(py)), ""}, " ");
      if (series[s].size() <= kMaxMarkers)
        dots += shape_of(s, x.at(px), y.at(py), 3.2,
                         ">" + title_element(plot.series[s].name + ": " + number_text(px) + ", " + number_text(py)) +
                             (s % kShapeCount == 1   ? "</rect>"
                              : s % kShapeCount == 0 ? "</circle>"
                                                     : "</polygon>"));
    }
    out += joined({"<g class=\"", class_of(s), R"("><polyline class="path" stroke-dasharray=")",
                   kDashes.at(s % kDashes.size()), "\" points=\"", points, "\"/>", dots, "</g>\n"},
                  "");
  }
  return out;
}

DrawnPlot with_axes(const ExplanationPlot& plot, const PlotRange& range) {
  std::vector<Points> series;
  size_t all = 0;
  for (const auto& one : plot.series) {
    series.push_back(points_of(one, plot.kind));
    all += series.back().size();
  }
  double top = 4;
  std::string out = legend_of(plot, top);
  if (!plot.y_name.empty()) {
    out += svg_text(8, top + 10, "start", shortened(printable(plot.y_name), static_cast<int>(kWidth / kLetter) - 2));
    top += 20;
  }
  const double bottom = top + kPlotHeight;
  PlotAxis y{range.y_low, range.y_high, bottom, top};
  const auto ticks = axis_ticks(y.low, y.high, 5);
  size_t letters = 1;
  for (const double tick : ticks) letters = std::max(letters, tick_label(tick, step_of(ticks)).size());
  const PlotAxis x{range.x_low, range.x_high, 12 + kLetter * static_cast<double>(letters), kRight};
  for (const double tick : ticks) {
    out += svg_line(x.begin, y.at(tick), x.end, y.at(tick), "grid");
    out += svg_text(x.begin - 5, y.at(tick) + 4, "end", tick_label(tick, step_of(ticks)));
  }
  out += horizontal_axis(x, plot.x_name, top, bottom) + svg_line(x.begin, top, x.begin, bottom, "axis");
  std::string caption;
  if (all == 0)
    out += svg_text((x.begin + x.end) / 2, (top + bottom) / 2, "middle", "no values");
  else
    out += plot.kind == DrawnKind::scatter ? scattered(series, x, y, caption) : curves(plot, series, x, y);
  const std::string what = plot.kind == DrawnKind::scatter ? "points" : "curves";
  return {svg_of(plot.title + ": " + what + " of " + plot.y_name + " against " + plot.x_name, bottom + 36, out, kWidth),
          caption};
}

}  // namespace

PlotRange range_of(const std::vector<const ExplanationPlot*>& plots) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  PlotRange range{kInfinity, -kInfinity, kInfinity, -kInfinity};
  for (const auto* plot : plots)
    for (const auto& series : plot->series)
      for (const auto& [x, y] : points_of(series, plot->kind)) {
        range = {std::min(range.x_low, x), std::max(range.x_high, x), std::min(range.y_low, y),
                 std::max(range.y_high, y)};
      }
  widen(range.x_low, range.x_high);
  widen(range.y_low, range.y_high);
  return range;
}

DrawnPlot drawn_plot(const ExplanationPlot& plot, const PlotRange& range) {
  return plot.kind == DrawnKind::violin ? violins(plot, range) : with_axes(plot, range);
}

}  // namespace heed::cli
