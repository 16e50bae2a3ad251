// Parts of plots as SVG, without scripts or fonts of their own. Colors are those of the page, by classes.

#pragma once

#include <string>
#include <vector>

namespace heed::cli {

inline constexpr double kPlotWidth = 420;  // of the viewBox; the page scales it
inline constexpr double kLetter = 6.6;     // width of a letter, roughly

/// A linear axis from values to coordinates; values outside are at its ends.
struct PlotAxis {
  double low, high;   // values
  double begin, end;  // coordinates
  double at(double value) const;
};

/// Numbers of an axis: 1, 2 or 5 times a power of ten, inside [low, high], about `count` of them.
std::vector<double> axis_ticks(double low, double high, int count);
/// The distance of ticks, and the digits after the point that it takes to write them.
double step_of(const std::vector<double>& ticks);
int digits_of_step(double step);

/// A coordinate, with one digit after the point.
std::string at1(double coordinate);
std::string svg_line(double x1, double y1, double x2, double y2, const std::string& kind);
/// anchor: start, middle or end.
std::string svg_text(double x, double y, const std::string& anchor, const std::string& text);
/// The picture, with a label for those who do not see it.
std::string svg_of(const std::string& label, double height, const std::string& content, double width = kPlotWidth);

}  // namespace heed::cli
