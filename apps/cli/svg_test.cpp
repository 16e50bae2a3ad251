#include "apps/cli/svg.h"

#include <gtest/gtest.h>

namespace heed::cli {
namespace {

TEST(AxisTicks, AreRoundNumbersInside) {
  EXPECT_EQ(axis_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  const auto shares = axis_ticks(0.801, 0.842, 4);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_NEAR(shares[0], 0.82, 1e-12);
  EXPECT_EQ(axis_ticks(3, 3, 5), std::vector<double>{3});
}

TEST(AxisTicks, AreWrittenWithTheDigitsOfTheirDistance) {
  EXPECT_EQ(digits_of_step(step_of({0, 0.2})), 1);
  EXPECT_EQ(digits_of_step(step_of({0, 0.02, 0.04})), 2);
  EXPECT_EQ(digits_of_step(step_of({0, 500})), 0);
  EXPECT_EQ(digits_of_step(step_of({3})), 0);
}

TEST(Svg, EscapesTextAndLabels) {
  EXPECT_EQ(svg_text(1, 2.04, "end", "<a&b>"),
            "<text x=\"1.0\" y=\"2.0\" text-anchor=\"end\">&lt;a&amp;b&gt;</text>\n");
  EXPECT_EQ(svg_of("\"x\"", 10, ""),
            "<svg role=\"img\" aria-label=\"&quot;x&quot;\" viewBox=\"0 0 420 10\">\n</svg>\n");
}

TEST(PlotAxis, EndsWhereItsValuesEnd) {
  const PlotAxis axis{0, 2, 100, 0};
  EXPECT_EQ(axis.at(0.5), 75);
  EXPECT_EQ(axis.at(-1), 100);
  EXPECT_EQ(axis.at(3), 0);
}

}  // namespace
}  // namespace heed::cli
