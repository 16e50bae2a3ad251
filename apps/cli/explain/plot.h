// Plots of what tests found, as SVG (svg.h). Series differ in color and in shape or dashes, so that a plot is readable
// in gray.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/data/explanation.h"

namespace heed::cli {

/// Values at the ends of both axes.
struct PlotRange {
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
};
/// Round ends around the points of all these plots, so that they can be compared.
PlotRange range_of(const std::vector<const ExplanationPlot*>& plots);

struct DrawnPlot {
  std::string svg, caption;
};
/// violin: a row for each series, with its density, quartiles and median. scatter: where there are too many points,
/// those that are close are drawn as one, darker; the caption says so. curve: points joined in the order of x.
DrawnPlot drawn_plot(const ExplanationPlot& plot, const PlotRange& range);

/// The style of what plots have in addition to kReportStyle.
extern const std::string_view kPlotStyle;

}  // namespace heed::cli
