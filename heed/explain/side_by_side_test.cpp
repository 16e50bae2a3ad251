#include "heed/explain/side_by_side.h"

#include <array>
#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

using Records = std::vector<ExplanationRecord>;

/// Texts with a value of each of three attributions; NaN: it has none.
Records records_of(const std::vector<std::array<double, 3>>& texts) {
  Records all;
  for (const auto& text : texts) {
    ExplanationRecord record{{"scores", ExplanationRecord::object()}};
    for (size_t i = 0; i < text.size(); ++i)
      if (!std::isnan(text[i]))
        record["scores"][std::vector<std::string>{"attention", "random", "uniform"}[i]] = {{"x", text[i]}};
    all.push_back(record);
  }
  return all;
}

ComparedFigure compared(const Records& records) {
  return ComparedFigure::of_means({"attention", "random", "uniform"}, records,
                                  [](const ExplanationRecord& one) { return std::optional(one["x"].get<double>()); },
                                  {.samples = 500});
}

TEST(SideBySide, TextsUndefinedForOneAreLeftOutOfAll) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto figure = compared(records_of({{1, 2, 0}, {nan, 100, 100}, {3, 6, 1}}));
  EXPECT_EQ(figure.texts(), 2);
  EXPECT_EQ(figure.mean("attention"), 2);
  EXPECT_EQ(figure.mean("random"), 4);
  EXPECT_EQ(figure.mean("uniform"), 0.5);
}

TEST(SideBySide, DifferencesAreOfTheFirst) {
  std::vector<std::array<double, 3>> texts;
  for (int i = 0; i < 40; ++i) texts.push_back({i + 0.1 * (i % 3), i + 1., static_cast<double>(i % 5)});
  const auto figure = compared(records_of(texts));
  const auto random = figure.difference_to("random"), uniform = figure.difference_to("uniform");
  ASSERT_TRUE(random && uniform);
  EXPECT_NEAR(random->value, 0.0975 - 1, 1e-9);
  EXPECT_LT(random->low, random->value);
  EXPECT_GT(random->high, random->value);
  EXPECT_TRUE(random->below());
  EXPECT_FALSE(random->above());
  EXPECT_TRUE(uniform->above());
  EXPECT_GE(uniform->p_holm, uniform->p);
  EXPECT_NEAR(std::min(random->p_holm / random->p, uniform->p_holm / uniform->p), 2,
              1e-9);  // Holm over two, both 1/501
  EXPECT_FALSE(figure.difference_to("attention"));
}

TEST(SideBySide, WithoutTextsIsUndefined) {
  const auto figure = compared({});
  EXPECT_EQ(figure.texts(), 0);
  EXPECT_EQ(figure.cell("random").text, "undefined");
  EXPECT_FALSE(figure.cell("random").value);
  EXPECT_FALSE(figure.difference_to("random"));
}

TEST(SideBySide, OneTextHasNoInterval) {
  const auto figure = compared(records_of({{1, 2, 3}}));
  EXPECT_EQ(figure.mean("random"), 2);
  EXPECT_FALSE(figure.cell("random").low);
  EXPECT_FALSE(figure.difference_to("random"));
}

TEST(SideBySide, CountsWhatRecordsSay) {
  const Records records{
      {{"undefined_no_tokens", 1}}, {{"counted_texts_of_one_token", 1}}, {{"undefined_no_tokens", 1}}};
  EXPECT_EQ(counts_of(records), (std::vector<std::pair<std::string, int64_t>>{
                                    {"texts", 3}, {"left out: no tokens", 2}, {"texts of one token", 1}}));
}

TEST(SideBySide, MapsAreShownAsShares) {
  EXPECT_EQ(shown({1, -5, 3}), (std::vector<double>{0.25, 0, 0.75}));
  EXPECT_EQ(shown({0, -1}), (std::vector<double>{0, 0}));
}

TEST(SideBySide, ScoresThatAreNotFiniteAreNone) {
  const Tensor scores = at::tensor({1., std::nan(""), 3.}, at::kDouble).view({1, 1, 3});
  EXPECT_EQ(scores_at(scores, 0, 0, {2, 0}), (std::vector<double>{3, 1}));
  EXPECT_EQ(scores_at(scores, 0, 0, {0, 1}), std::nullopt);
}

TEST(SideBySide, FiguresAreWrittenAlike) {
  EXPECT_EQ(figure(-0.0001), "0.000");
  EXPECT_EQ(figure(ExplanationCell{.value = 0.5, .low = 0.25, .high = 0.75}), "0.500 (0.250 to 0.750)");
  EXPECT_EQ(p_value(0.0001), "p < 0.001");
  EXPECT_EQ(p_value(0.0123), "p = 0.012");
}

}  // namespace
}  // namespace heed
