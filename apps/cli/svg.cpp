#include "apps/cli/svg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "apps/cli/html_text.h"
#include "apps/cli/screen.h"

namespace heed::cli {

double PlotAxis::at(double value) const {
  return begin + (end - begin) * (std::clamp(value, low, high) - low) / (high - low);
}

std::vector<double> axis_ticks(double low, double high, int count) {
  if (!(high > low) || count < 1) return {low};
  const double rough = (high - low) / count, power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough) step = factor * power;
  std::vector<double> ticks;
  for (auto k = static_cast<int64_t>(std::ceil(low / step - 1e-9)); static_cast<double>(k) * step <= high + 1e-9 * step;
       ++k)
    ticks.push_back(static_cast<double>(k) * step);
  return ticks;
}

double step_of(const std::vector<double>& ticks) {
  return ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
}

int digits_of_step(double step) {
  return std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
}

std::string at1(double coordinate) {
  return fixed(coordinate, 1);
}

std::string svg_line(double x1, double y1, double x2, double y2, const std::string& kind) {
  return "<line class=\"" + kind + "\" x1=\"" + at1(x1) + "\" y1=\"" + at1(y1) + "\" x2=\"" + at1(x2) + "\" y2=\"" +
         at1(y2) + "\"/>\n";
}

std::string svg_text(double x, double y, const std::string& anchor, const std::string& text) {
  return "<text x=\"" + at1(x) + "\" y=\"" + at1(y) + "\" text-anchor=\"" + anchor + "\">" + html_text(text) +
         "</text>\n";
}

std::string svg_of(const std::string& label, double height, const std::string& content, double width) {
  return R"(<svg role="img" aria-label=")" + html_text(label) + R"(" viewBox="0 0 )" + fixed(width, 0) + " " +
         fixed(height, 0) + "\">\n" + content + "</svg>\n";
}

}  // namespace heed::cli
