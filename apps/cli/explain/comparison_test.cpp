#include "apps/cli/explain/comparison.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

ExplanationResult result_of(const std::string& test, double value, ExplanationVerdict verdict) {
  ExplanationResult result{.test = test, .verdict = verdict, .figure_name = "tau"};
  result.figure = {.value = value, .low = value - 1, .high = value + 1};
  result.tables = {{.title = "empty", .columns = {"", "n"}},
                   {.columns = {"", "texts", "tau"},
                    .rows = {{"random", {{.value = 7}, {.value = 9}}},
                             {"attention", {{.value = 7}, {.value = value, .low = value - 1, .high = value + 1}}}}}};
  return result;
}

std::vector<Explanation> two_runs() {
  Explanation a{.run = "runs/sst/additive", .mechanism = "additive + softmax"}, b{.run = "runs/sst/dot/"};
  a.results = {result_of("gradients", 0.25, ExplanationVerdict::speaks_for), {.test = "seeds", .not_run = "no seeds"}};
  b.results = {result_of("gradients", -0.5, ExplanationVerdict::speaks_against),
               result_of("erasure", 0.125, ExplanationVerdict::neither)};
  return {a, b};
}

TEST(Comparison, HasTheFigureOfAttention) {
  const auto figure = main_figure(result_of("gradients", 0.25, ExplanationVerdict::neither));
  ASSERT_TRUE(figure.has_value());
  EXPECT_EQ(figure->name, "tau");
  EXPECT_EQ(cell_text(figure->cell), "0.250 [-0.750, 1.250]");
  EXPECT_FALSE(main_figure({.test = "seeds", .not_run = "no seeds"}).has_value());
}

TEST(Comparison, ATestWithoutAFigureHasNone) {
  ExplanationResult result = result_of("gradients", 0.25, ExplanationVerdict::neither);
  result.figure = {};
  EXPECT_FALSE(main_figure(result).has_value());
  result.figure.value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(main_figure(result).has_value());
}

TEST(Comparison, CellsAreNumbersTextsOrNothing) {
  EXPECT_EQ(cell_text({.value = 2}), "2.000");
  EXPECT_EQ(cell_text({.value = -1e-5}), "0.000");
  EXPECT_EQ(cell_text({.value = 2, .low = 1, .high = 3}, /*interval=*/false), "2.000");
  EXPECT_EQ(cell_text({.text = "positive"}), "positive");
  EXPECT_EQ(cell_text({}), "-");
  EXPECT_EQ(cell_text({.value = std::numeric_limits<double>::infinity()}), "-");
}

TEST(Comparison, OfRunsHasARowForEach) {
  const Table table = comparison_table(two_runs());
  EXPECT_EQ(table.titles, (std::vector<std::string>{"run", "mechanism", "gradients: tau", "erasure: tau"}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0],
            (std::vector<std::string>{"additive", "additive + softmax", "0.250 [-0.750, 1.250] +", "-"}));
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"dot", "", "-0.500 [-1.500, 0.500] -", "0.125 [-0.875, 1.125]"}));
}

TEST(Comparison, AsJson) {
  const auto json = comparison_json(two_runs());
  EXPECT_EQ(json[0]["tests"]["gradients"]["value"], 0.25);
  EXPECT_EQ(json[0]["tests"]["gradients"]["verdict"], to_string(ExplanationVerdict::speaks_for));
  EXPECT_FALSE(json[0]["tests"].contains("seeds"));
}

TEST(Comparison, FindsTheFolderOfAllRuns) {
  EXPECT_EQ(common_folder({"runs/a", "runs/b/"}), "runs");
  EXPECT_EQ(common_folder({"runs/ab/x", "runs/a/y"}), "runs");
  EXPECT_EQ(common_folder({"a", "b"}), ".");
  EXPECT_EQ(common_folder({"/a", "/b"}), "/");
  EXPECT_EQ(common_folder({"/x/a", "y/b"}), ".");
  EXPECT_EQ(short_run_names({{.run = "/a"}, {.run = "/b"}}), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace heed::cli
