// Measures of attention against scikit-learn, SciPy and NumPy, on random and degenerate weights.
// fixtures/attention_scores.py writes fixtures/attention.json.

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/attention_agreement.h"
#include "heed/metrics/attention_distribution.h"
#include "heed/metrics/attention_relevance.h"
#include "heed/metrics/rank_correlation.h"

namespace heed {
namespace {

using nlohmann::json;
using Values = std::vector<double>;

constexpr double kClose = 1e-12;         // 40 values at most: their sums have some 40 rounding errors of 1e-16
constexpr double kCloseInverted = 1e-9;  // the inverse of a matrix multiplies them by its condition number

const json& fixture() {
  static const json all = json::parse(std::ifstream("heed/metrics/fixtures/attention.json"));
  return all;
}

void expect_close(const std::optional<double>& found, const json& expected, double close = kClose) {
  ASSERT_EQ(found.has_value(), !expected.is_null());
  if (found) {
    EXPECT_NEAR(*found, expected.get<double>(), close);
  }
}

std::vector<bool> bits(const json& text) {
  std::vector<bool> all;
  for (const char c : text.get<std::string>()) all.push_back(c == '1');
  return all;
}

TEST(AttentionFixtures, RelevanceIsThatOfScikitLearn) {
  EXPECT_GE(fixture().at("relevance").size(), 200U);
  for (const auto& one : fixture().at("relevance")) {
    SCOPED_TRACE(one.dump());
    const auto weights = one["weights"].get<Values>();
    const auto gold = bits(one["gold"]);
    expect_close(average_precision(weights, gold), one["average_precision"]);
    expect_close(roc_auc(weights, gold), one["auc"]);
    if (one.contains("f1_above_1")) expect_close(token_f1_above(weights, gold, 1), one["f1_above_1"]);
    if (one.contains("precision_at_2")) expect_close(precision_at(weights, gold, 2), one["precision_at_2"]);
  }
}

TEST(AttentionFixtures, RankCorrelationsAreThoseOfSciPyAndNumPy) {
  EXPECT_GE(fixture().at("correlations").size(), 200U);
  for (const auto& one : fixture().at("correlations")) {
    SCOPED_TRACE(one.dump());
    const auto x = one["x"].get<Values>(), y = one["y"].get<Values>();
    expect_close(kendall_tau_b(x, y), one["kendall"]);
    const auto controls = one["controls"].get<std::vector<Values>>();
    for (size_t c = 0; c < one["partial"].size(); ++c) {
      const std::vector<Values> first(controls.begin(), controls.begin() + static_cast<std::ptrdiff_t>(c));
      expect_close(partial_spearman(x, y, first), one["partial"][c], kCloseInverted);
    }
  }
}

TEST(AttentionFixtures, EntropyAndDivergencesAreThoseOfSciPy) {
  EXPECT_GE(fixture().at("distributions").size(), 200U);
  for (const auto& one : fixture().at("distributions")) {
    SCOPED_TRACE(one.dump());
    const auto p = one["p"].get<Values>(), q = one["q"].get<Values>();
    expect_close(attention_spread(p).entropy, one["entropy"]);
    const MapAgreement found = map_agreement(p, q);
    expect_close(found.jsd, one["jsd"]);
    expect_close(found.tvd, one["tvd"]);
  }
}

}  // namespace
}  // namespace heed
