#include "apps/cli/ablate/summary.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "apps/cli/ablate/ablation_table.h"
#include "apps/cli/ablate/page.h"
#include "apps/cli/ablate/plot.h"
#include "apps/cli/ablate/run_state.h"
#include "apps/cli/ablate/testing_ablation.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

using testing::AblationTest;
using testing::says;
using Json = nlohmann::ordered_json;

std::string of_length(size_t length, size_t right) {
  return std::string(right, '1') + std::string(length - right, '0');
}

TEST(SeedFigures, HaveTheIntervalOfStudentsT) {
  const SeedFigures three = seed_figures({{1, 0.80}, {2, 0.82}, {3, 0.87}});
  EXPECT_NEAR(three.mean, 0.83, 1e-12);
  EXPECT_NEAR(three.deviation, std::sqrt(0.0013), 1e-12);
  EXPECT_NEAR(three.high - three.mean, 4.302652730 * std::sqrt(0.0013 / 3), 1e-9);
  EXPECT_NEAR(three.low + three.high, 2 * three.mean, 1e-12);
  const SeedFigures one = seed_figures({{7, 0.5}});
  EXPECT_EQ(one.mean, 0.5);
  EXPECT_TRUE(std::isnan(one.deviation) && std::isnan(one.low));
  EXPECT_TRUE(std::isnan(seed_figures({}).mean));
  const std::map<int64_t, double> table{{1, 12.7062}, {5, 2.5706},  {6, 2.4469},
                                        {10, 2.2281}, {30, 2.0423}, {1000, 1.9623}};
  for (const auto& [degrees, t] : table) EXPECT_NEAR(student_t(degrees), t, 2e-3) << degrees;
}

TEST(SeedFigures, StayWithinWhatAFigureCanBe) {
  const SeedFigures wide{.values = {}, .mean = 0.5, .deviation = 0.5, .low = -3, .high = 300};
  const auto bounds = [&](const std::string& key) {
    const SeedFigures found = bounded(wide, {.set = "test", .key = key});
    return std::pair(found.low, found.high);
  };
  EXPECT_EQ(bounds("accuracy"), std::pair(0.0, 1.0));
  EXPECT_EQ(bounds("bleu"), std::pair(0.0, 100.0));
  EXPECT_EQ(bounds("mse"), std::pair(0.0, 300.0));
  EXPECT_EQ(bounds("spearman"), std::pair(-1.0, 1.0));
  EXPECT_EQ(bounded_difference(wide, {.set = "test", .key = "accuracy"}).low, -1);
  EXPECT_EQ(bounded_difference(wide, {.set = "test", .key = "bleu"}).high, 100);
  EXPECT_EQ(bounded_difference(wide, {.set = "test", .key = "mse"}).low, -3);
  EXPECT_TRUE(std::isnan(bounded(seed_figures({{1, 2.0}}), {.set = "test", .key = "bleu"}).high));
}

TEST(MainFigures, AreThoseOfTheTask) {
  const auto names = [](const char* results) {
    std::vector<std::string> all;
    for (const auto& figure : main_figures(Json::parse(results))) all.push_back(figure_title(figure));
    return joined(all);
  };
  EXPECT_EQ(names(R"({"dev": {"labels": "one", "accuracy": 1, "f1": 1}})"), "dev accuracy");
  EXPECT_EQ(names(R"({"dev": {"bleu": 1}, "test": {"bleu": 2, "aer": 0.1}})"), "test BLEU, dev BLEU, test AER");
  EXPECT_EQ(names(R"({"test": {"labels": "several", "accuracy": 1, "f1": 1}})"), "test F1");
  EXPECT_EQ(names(R"({"dev": {"labels": "number", "mse": 1, "spearman": 1}})"), "dev MSE");
  EXPECT_EQ(names("{}"), "");
}

TEST_F(AblationTest, ComparesMeansOverSeedsWithTheFirstRow) {
  finish("a", 1, of_length(200, 100));
  finish("a", 2, of_length(200, 110));
  finish("b", 1, of_length(200, 150));
  finish("b", 2, of_length(200, 170));
  const AblationSummary found = summarize(plan_, folder_);
  ASSERT_EQ(found.cells.size(), 2U);
  EXPECT_NEAR(found.cells[0].figures[0].mean, 0.525, 1e-9);
  EXPECT_NEAR(found.cells[1].figures[0].mean, 0.8, 1e-9);
  EXPECT_FALSE(found.cells[0].against_first);
  ASSERT_TRUE(found.cells[1].against_first);
  EXPECT_NEAR(found.cells[1].against_first->difference, 0.275, 1e-9);
  EXPECT_LT(found.cells[1].against_first->p_holm, 0.01);
  EXPECT_GT(found.cells[1].against_first->interval->low, 0.2);
  EXPECT_EQ(found.cells[1].compared_seeds(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(found.cells[1].parameters, 1000);
  EXPECT_EQ(found.origin.seeds, (std::set<int64_t>{1, 2}));
}

/// The dots of the plot, f: full, h: hollow.
std::string full_dots(const AblationSummary& summary) {
  const std::string plot = quality_plot(summary);
  std::string all;
  for (size_t at = plot.find("<circle"); at != std::string::npos; at = plot.find("<circle", at + 1))
    all += plot.compare(at, 20, "<circle class=\"full\"") == 0 ? "f" : "h";
  return all;
}

TEST_F(AblationTest, DifferencesBySeedHaveTheIntervalOfStudentsT) {
  plan_.seeds = {1, 2, 3};
  const std::vector<size_t> a{100, 110, 105}, b{150, 152, 157}, unsteady{101, 190, 150};
  for (size_t i = 0; i < 3; ++i) {
    finish("a", static_cast<int>(i) + 1, of_length(200, a[i]));
    finish("b", static_cast<int>(i) + 1, of_length(200, b[i]));
  }
  const AblationSummary steady = summarize(plan_, folder_);
  const SeedFigures& difference = *steady.cells[1].difference;  // 0.25, 0.21, 0.26
  EXPECT_NEAR(difference.mean, 0.24, 1e-9);
  EXPECT_NEAR(difference.high - difference.mean, 4.302652730 * std::sqrt(0.0007 / 3), 1e-9);
  EXPECT_TRUE(steady.remarks.empty());
  EXPECT_EQ(full_dots(steady), "hf");
  const Table table = table_of(steady);
  const auto column = std::find(table.titles.begin(), table.titles.end(), "95 % of it over seeds");
  ASSERT_NE(column, table.titles.end());
  EXPECT_EQ(table.rows[1][static_cast<size_t>(column - table.titles.begin())], "+17.43 to +30.57");
  EXPECT_NEAR(as_json(steady)["cells"][1]["difference"]["low"].get<double>(), difference.low, 1e-12);

  for (size_t i = 0; i < 3; ++i) finish("b", static_cast<int>(i) + 1, of_length(200, unsteady[i]));
  const AblationSummary found = summarize(plan_, folder_);
  EXPECT_LT(found.cells[1].against_first->p_holm, 0.01);
  EXPECT_GT(found.cells[1].against_first->interval->low, 0);
  EXPECT_LT(found.cells[1].difference->low, 0);
  EXPECT_EQ(full_dots(found), "hh");  // with these seeds, perhaps not with others
}

TEST_F(AblationTest, FewerThanThreeSeedsAreARemark) {
  finish("a", 1, "1100");
  finish("a", 2, "1111");
  finish("b", 1, "1110");
  EXPECT_TRUE(says(joined(summarize(plan_, folder_).remarks), {"rows are compared with the first over 1 seed, fewer"}));
  finish("b", 2, "1110");
  EXPECT_TRUE(says(joined(summarize(plan_, folder_).remarks), {"over 2 seeds, fewer than 3"}));
}

TEST_F(AblationTest, ComparesTheSeedsThatBothCellsHave) {
  finish("a", 1, "1100");
  finish("a", 2, "1111");
  finish("b", 2, "1110");
  const AblationSummary found = summarize(plan_, folder_);
  EXPECT_EQ(found.cells[1].compared_seeds(), std::vector<int64_t>{2});
  EXPECT_TRUE(std::isnan(found.cells[1].difference->high));
  EXPECT_NEAR(found.cells[1].against_first->difference, -0.25, 1e-9);
  EXPECT_EQ(found.count(&CellSummary::left), 1U);
}

TEST_F(AblationTest, AFailedCellIsARowWithItsReason) {
  finish("a", 1, "1100");
  finish("a", 2, "1110");
  make_folders(folder_ + "/attention=b");
  const auto runs = runs_of(plan_, folder_);
  write_failure(runs[1], {1, "score: no part called 'b'"});
  write_failure(runs[3], {1, "score: no part called 'b'"});
  std::ostringstream table;
  print_ablation(table, summarize(plan_, folder_), 0);
  EXPECT_TRUE(says(table.str(), {"0/2, 2 failed", "attention=b: 2 runs failed: score: no part called 'b'", "62.50 %"}));
}

TEST_F(AblationTest, PredictionsThatDoNotGiveTheFigureAreNotTested) {
  finish("a", 1, "1100");
  finish("b", 1, "1110");
  write_atomically(run_folder("b", 1) + "/dev.predictions.tsv", "yes\t0.5\tno\n");
  const AblationSummary found = summarize(plan_, folder_);
  EXPECT_FALSE(found.cells[1].against_first);
  EXPECT_TRUE(says(joined(found.remarks),
                   {"no tests", "attention=b/seed-1: got dev accuracy 0 of its outputs, expected 0.75"}));
}

TEST_F(AblationTest, RunsOnOtherDataAreNamed) {
  finish("a", 1, "1100");
  finish("b", 1, "1110", R"(, "commit": "c", "data": {"data.dev": "another"})");
  EXPECT_TRUE(says(joined(summarize(plan_, folder_).remarks), {"the runs read different data, data.dev"}));
}

TEST_F(AblationTest, ARowThatWasJudgedOnOtherTextsIsNotTested) {
  finish("a", 1, "1100");
  finish("b", 1, "1110", R"(, "data": {"data.train": "1", "data.dev": "another"})");
  const AblationSummary other = summarize(plan_, folder_);
  EXPECT_FALSE(other.cells[1].against_first);
  EXPECT_TRUE(
      says(joined(other.remarks), {"no test of attention=b: the dev set of attention=b, seed 1 has md5 another, "
                                   "that of attention=a, seed 1 0123456789"}));
  const auto data = [](const std::string& file) {
    return ", \"data\": {\"data.train\": \"" + file + "\", \"data.dev (source, " + file +
           ")\": \"s\", \"data.dev (target, " + file + ")\": \"t\"}";
  };
  finish("a", 1, "1100", data("x"));
  finish("b", 1, "1110", data("y"));
  EXPECT_TRUE(summarize(plan_, folder_).cells[1].against_first);  // the same texts in files of other names
}

TEST_F(AblationTest, OtherNumbersOfStepsAreNamedWithinASeed) {
  finish("a", 1, "1100");
  finish("a", 2, "1100");  // another seed has other batches
  finish("b", 1, "1110");
  EXPECT_EQ(joined(summarize(plan_, folder_).remarks).find("steps"), std::string::npos);
  finish("b", 2, "1110", R"(, "step": 7)");
  EXPECT_TRUE(says(joined(summarize(plan_, folder_).remarks), {"with seed 2 have different numbers of steps: 7, 92"}));
}

TEST_F(AblationTest, NothingFinishedIsATableToo) {
  const AblationSummary found = summarize(plan_, folder_);
  EXPECT_TRUE(found.figures.empty());
  EXPECT_EQ(table_of(found).titles, (std::vector<std::string>{"attention", "runs"}));
  EXPECT_EQ(quality_plot(found), "");
  EXPECT_TRUE(says(ablation_page(found), {"0/2"}));
  EXPECT_TRUE(as_json(found)["quality"].is_null());
}

TEST_F(AblationTest, ThePageEscapesTextAndFetchesNothing) {
  plan_.cells[1].values = {"<script>alert('x')</script>&\"b\""};
  finish("a", 1, "1100");
  finish("b", 1, "1110");
  const std::string page = ablation_page(summarize(plan_, folder_));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_TRUE(says(page, {"&lt;script&gt;", "&lt;recipe&gt;.yaml", "<svg", "tokens per second", "75.00 %"}));
  for (const char* request : {"http:", "https:", "url(", "@import", "src="})
    EXPECT_EQ(page.find(request), std::string::npos);
}

TEST_F(AblationTest, JsonHasNoNaN) {
  finish("a", 1, "1100");
  const Json json = as_json(summarize(plan_, folder_));
  EXPECT_EQ(json["cells"][0]["figures"]["dev accuracy"]["mean"], 0.5);
  EXPECT_TRUE(json["cells"][0]["figures"]["dev accuracy"]["deviation"].is_null());
  EXPECT_TRUE(json["cells"][1]["against_first"].is_null());
  EXPECT_EQ(json["provenance"]["data"]["data.dev"], "0123456789");
}

}  // namespace
}  // namespace heed::cli
