#include "apps/cli/ablate/attention_gold.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/cli/ablate/ablation_table.h"
#include "apps/cli/ablate/summary.h"
#include "apps/cli/ablate/testing_ablation.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

using testing::refuses;
using testing::says;

/// A grid with a finished run of each cell, and a program in the place of heed that counts its calls and prints
/// figures.
class AttentionGoldTest : public testing::AblationTest {
 protected:
  AttentionGoldTest() {
    plan_.seeds = {1};
    finish("a", 1, "1100");
    finish("b", 1, "1110");
    write("gold.tsv", "1\t0 1\n");
  }

  void program_prints(const std::string& text, int status = 0) const {
    const std::string file = write("program", "#!/bin/sh\necho call >> '" + path("calls") + "'\ncat <<'END'\n" + text +
                                                  "\nEND\nexit " + std::to_string(status) + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  void program_measures(const std::string& correctness) const {
    program_prints("{\n \"maps\": {\"attention\": {\"correctness\": {\"mean\": " + correctness + "}}}}");
  }
  AblationSummary measured() const {
    GridProgress progress({[](const std::string&) {}, [] { return 0; }, [] { return 0.0; }});
    const auto gold = attention_gold(path("gold.tsv"));
    write_attention_gold(folder_, gold);
    EXPECT_EQ(measure_attention(plan_, folder_, gold, {.program = path("program"), .jobs = 1}, progress), 0);
    return summarize(plan_, folder_);
  }
  int64_t calls() const {
    const std::string all = exists(path("calls")) ? read_file(path("calls")) : "";
    return std::count(all.begin(), all.end(), '\n');
  }
  /// Of the second cell; NaN without a column.
  static double correctness(const AblationSummary& summary) {
    return summary.figures.size() < 2 ? std::nan("") : summary.cells[1].figures[1].mean;
  }
};

TEST_F(AttentionGoldTest, IsMeasuredOnceForAFileAndTheResultsOfARun) {
  program_measures("0.25");
  const AblationSummary first = measured();
  EXPECT_EQ(correctness(first), 0.25);
  EXPECT_TRUE(says(joined(notes_of(first), " "), {"Attention against " + path("gold.tsv") + ", md5 "}));
  EXPECT_EQ(calls(), 2);
  measured();
  EXPECT_EQ(calls(), 2);
  finish("b", 1, "1111");
  program_measures("0.5");
  EXPECT_EQ(correctness(measured()), 0.5);
  EXPECT_EQ(calls(), 3);
}

TEST_F(AttentionGoldTest, ThatHasChangedUnderItsNameIsMeasuredAgain) {
  program_measures("0.25");
  measured();
  write("gold.tsv", "1\t1 0\n");
  program_measures("0.75");
  EXPECT_EQ(correctness(measured()), 0.75);
  EXPECT_EQ(calls(), 4);
}

TEST_F(AttentionGoldTest, ThatCannotBeMeasuredHasEmptyColumnsAndANote) {
  program_measures("0.25");
  measured();
  write("gold.tsv", "nothing\n");
  program_prints("heed: eval: no such id", 1);
  const AblationSummary found = measured();
  EXPECT_TRUE(std::isnan(correctness(found)));
  EXPECT_EQ(found.unmeasured(), 2U);
  EXPECT_TRUE(says(joined(notes_of(found), " "), {"the attention of ", "is not measured: eval: no such id"}));
  EXPECT_EQ(as_json(found)["cells"][1]["attention_failures"][0]["reason"], "eval: no such id");
  measured();  // a failed one is tried again
  EXPECT_EQ(calls(), 6);
}

TEST_F(AttentionGoldTest, OfRunsThatWereFinishedLaterIsNamedAsMissing) {
  program_measures("0.25");
  measured();
  plan_.seeds = {1, 2};
  finish("b", 2, "1111");
  EXPECT_TRUE(says(joined(summarize(plan_, folder_).remarks), {"the attention of 1 runs is not measured yet"}));
}

TEST_F(AttentionGoldTest, IsAFile) {
  EXPECT_TRUE(refuses([&] { attention_gold(path("none.tsv") + " --set dev"); }, "expected a file with gold"));
  EXPECT_TRUE(refuses([&] { attention_gold(" "); }, "got --attention without a file"));
}

}  // namespace
}  // namespace heed::cli
