// Metrics of numbers: one for each line, finite.

#include <cmath>

#include "apps/cli/eval_metric/testing_files.h"
#include <gtest/gtest.h>

namespace heed::cli {
namespace {

using namespace testing_files;

// Differences 1, 0, -2: squares 1 + 0 + 4. Gold 1 2 6 has mean 3 and squares 4 + 1 + 9.
TEST(NumbersOfFiles, HaveTheirErrors) {
  const auto found =
      json({"mse", "rmse", "mae", "r2", "pearson", "spearman"}, {{"1", "2", "6"}, {" 2.0\t", "2e0", "+4"}});
  EXPECT_NEAR(found["mse"]["score"].get<double>(), 5. / 3, 1e-12);
  EXPECT_NEAR(found["rmse"]["score"].get<double>(), std::sqrt(5. / 3), 1e-12);
  EXPECT_NEAR(found["mae"]["score"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(found["r2"]["score"].get<double>(), 1 - 5. / 14, 1e-12);
  EXPECT_NEAR(found["spearman"]["score"].get<double>(), 1.5 / std::sqrt(3), 1e-12);  // ranks 1.5 1.5 3 and 1 2 3
  EXPECT_EQ(found["mse"]["examples"], 3);
}

TEST(NumbersOfFiles, HaveNoCorrelationIfConstant) {
  EXPECT_TRUE(std::isnan(score("pearson", {{"1", "2"}, {"3", "3"}})));
  EXPECT_NE(printed(options({"spearman"}, {{"1"}, {"3"}})).find(" = no score (examples = 1)"), std::string::npos);
}

TEST(NumbersOfFiles, NameTheLineThatIsNone) {
  const std::string expected = ", expected one number, finite and with a decimal point, as -1.5 or 2e-3";
  for (const std::string text : {"nan", "", "1,5", "1 2", ".inf", "1e999", "x"})
    EXPECT_EQ(problem({"mse"}, {{"1", "2"}, {"1", text}}), "eval: a:2: got '" + text + "'" + expected);
  EXPECT_EQ(problem({"mse"}, {{"1", std::string("2\0", 2)}, {"1", "2"}}), "eval: gold:2: got '2\\x00'" + expected);
}

}  // namespace
}  // namespace heed::cli
