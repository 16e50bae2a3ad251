#include "apps/cli/eval_attention_report.h"

#include <gtest/gtest.h>

namespace heed::cli {
namespace {

/// The first note on a partial correlation of so many texts.
std::string meaning(int64_t texts, double low, double high) {
  AttentionReport report;
  report.maps.push_back({"attention", {{.name = "partial_spearman", .mean = .3, .low = low, .high = high}}});
  report.maps.front().figures.front().defined = texts;
  add_meaning(report);
  return report.notes.front();
}

TEST(EvalAttentionReport, SaysWhatAPartialCorrelationMeans) {
  EXPECT_EQ(meaning(20, .1, .5),
            "Partial Spearman 0.3000 (0.1000 to 0.5000): beyond what the controls explain, words that people weigh "
            "more have more attention.");
  EXPECT_NE(meaning(20, -.5, -.1).find("less attention"), std::string::npos);
  EXPECT_NE(meaning(20, -.1, .1).find("no relation"), std::string::npos);
}

TEST(EvalAttentionReport, ConcludesNothingFromFewTexts) {
  for (const double low : {.1, -.1})
    EXPECT_EQ(
        meaning(19, low, .5).substr(meaning(19, low, .5).find(')')),
        ") is of few texts (19): an interval over fewer than 20 is not reliable, and nothing is concluded from it.");
}

TEST(EvalAttentionReport, FindsTheStrongestBaseline) {
  AttentionReport report;
  for (const auto& [name, mean] :
       std::vector<std::pair<std::string, double>>{{"attention", .9}, {"random", .8}, {"length", -.2}, {"rarity", -.1}})
    report.maps.push_back({name, {{.name = "spearman", .mean = mean}}});
  EXPECT_EQ(strongest_of(report, {"length", "rarity"}, "spearman"), "rarity");
  EXPECT_EQ(strongest_of(report, {"length"}, "spearman"), "length");
  EXPECT_EQ(strongest_of(report, {"length", "rarity"}, "roc_auc"), "");
}

}  // namespace
}  // namespace heed::cli
