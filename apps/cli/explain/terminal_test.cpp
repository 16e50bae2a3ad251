#include "apps/cli/explain/terminal.h"

#include <sstream>

#include <gtest/gtest.h>

#include "heed/data/testing.h"

namespace heed::cli {
namespace {

using testing::says;

Explanation an_explanation() {
  Explanation found{
      .run = "runs/sst 2", .task = "classify", .mechanism = "additive + softmax", .set = "dev", .texts = 9};
  ExplanationResult one{.test = "gradients", .title = "Gradients", .paper = "Jain & Wallace, 2019"};
  one.verdict = ExplanationVerdict::speaks_against;
  one.finding = "tau is 0.1.";
  one.counts = {{"texts", 9}, {"one_token", 2}, {"nan_weights", 0}};
  one.tables = {{.title = "Agreement",
                 .note = "Over texts.",
                 .columns = {"class", "tau"},
                 .rows = {{"positive", {{.value = 0.1, .low = 0, .high = 0.2}}}, {"negative", {}}}}};
  one.examples = {{.title = "best", .tokens = {"it", "'s", "fun"}}};
  found.results = {one,
                   {.test = "seeds", .title = "Seeds", .not_run = "the model seed_2 could not be trained"},
                   {.test = "erasure", .title = "Erasure"}};
  return found;
}

std::string printed(const Explanation& found, const std::vector<std::string>& tests, int columns) {
  std::ostringstream out;
  print_explanation(out, found, tests, columns);
  return out.str();
}

TEST(ExplanationTables, HaveFiguresFindingsAndReasons) {
  const std::string text = printed(an_explanation(), {"gradients", "seeds"}, 80);
  EXPECT_TRUE(
      says(text, {"runs/sst 2: additive + softmax, 9 texts of dev", "gradients: Gradients (Jain & Wallace, 2019)",
                  "Agreement", "positive  0.100 [0.000, 0.200]", "against the weights as an explanation: tau is 0.1.",
                  "9 texts, 2 one token", "not run: the model seed_2 could not be trained",
                  "from earlier calls: erasure", explanation_caution().substr(0, 20)}));
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(ExplanationTables, LeaveOutWhatDoesNotFit) {
  Explanation found = an_explanation();
  auto& table = found.results.front().tables.front();
  table.columns.emplace_back("a figure with a long name");
  for (auto& row : table.rows) row.cells.resize(2, {.value = 7});
  EXPECT_TRUE(says(printed(found, {"gradients"}, 0), {"0.100 [0.000, 0.200]                      7.000\n"}));
  const std::string narrow = printed(found, {"gradients"}, 30);
  EXPECT_TRUE(says(narrow, {"positive  0.100\n", "(in the page: a figure with a"}));
}

TEST(ExplanationTables, FitATerminal) {
  std::istringstream lines(printed(an_explanation(), {"gradients", "seeds", "erasure"}, 40));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 40U) << line;
}

TEST(ExplanationTables, AreFollowedByCommands) {
  const auto commands = next_commands(an_explanation(), {"explain", "runs/sst 2", "--tests", "all"});
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_TRUE(commands[0].ends_with(" explain 'runs/sst 2' --tests all")) << commands[0];
  EXPECT_TRUE(says(commands[1], {" attend 'runs/sst 2' --text 'it '\\''s fun'"}));
  EXPECT_EQ(next_commands(an_explanation(), {}).size(), 1U);
}

TEST(ExplanationTables, SayOnceWhatBracketsAre) {
  const auto notes_in = [](const std::string& text) {
    size_t notes = 0;
    for (size_t at = 0; (at = text.find(interval_note(), at)) != std::string::npos; ++at) ++notes;
    return notes;
  };
  Explanation found = an_explanation();
  found.results.back().tables = found.results.front().tables;
  const std::string text = printed(found, {"gradients", "erasure"}, 80);
  EXPECT_EQ(notes_in(text), 1U) << text;
  EXPECT_LT(text.find("[0.000, 0.200]"), text.find(interval_note()));
  EXPECT_LT(text.find(interval_note()), text.find("erasure: "));
  EXPECT_EQ(notes_in(printed(found, {"gradients"}, 20)), 0U);  // no intervals fit
  EXPECT_EQ(notes_in(printed(found, {"seeds"}, 80)), 0U);
}

TEST(WithTests, ChangesNothingElse) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(with_tests({"explain", "--tests", "erasure", "a b", "--seed", "3"}, "all"),
            (Words{"explain", "--tests", "all", "a b", "--seed", "3"}));
  EXPECT_EQ(with_tests({"explain", "a", "--tests=erasure", "data.root=x"}, "all"),
            (Words{"explain", "a", "--tests=all", "data.root=x"}));
  EXPECT_EQ(with_tests({"explain", "a", "--set", "test"}, "all"),
            (Words{"explain", "a", "--set", "test", "--tests", "all"}));
}

TEST(Wrapped, KeepsLinesShort) {
  EXPECT_EQ(wrapped("one two three four five", 22, "  "), "  one two three four\n  five");
  EXPECT_EQ(wrapped("one two", 0, " "), " one two");
}

}  // namespace
}  // namespace heed::cli
