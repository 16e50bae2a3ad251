// Areas of erasure and IoU F1 of spans against the functions of ERASER, on random outputs and rationales.
// fixtures/erasure_scores.py writes fixtures/erasure.json.

#include <fstream>
#include <numeric>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/erasure.h"
#include "heed/metrics/rationale_overlap.h"

namespace heed {
namespace {

using nlohmann::json;
using Values = std::vector<double>;

constexpr double kClose = 1e-12;

const json& fixture() {
  static const json all = json::parse(std::ifstream("heed/metrics/fixtures/erasure.json"));
  return all;
}

std::vector<bool> words(const json& text) {
  std::vector<bool> all;
  for (const char word : text.get<std::string>()) all.push_back(word == 'x');
  return all;
}

TEST(ErasureFixtures, AreasAreThoseOfEraser) {
  EXPECT_GE(fixture().at("erasure").size(), 3U);
  for (const auto& one : fixture().at("erasure")) {
    const auto count = static_cast<double>(one["texts"].size());
    double comprehensiveness = 0, sufficiency = 0;
    Values by_share(erasure_shares().size());
    for (const auto& text : one["texts"]) {
      const ErasureScores scores =
          erasure_scores(text["whole"].get<double>(), text["without"].get<Values>(), text["alone"].get<Values>());
      comprehensiveness += scores.comprehensiveness_area / count;
      sufficiency += scores.sufficiency_area / count;
      for (size_t i = 0; i < by_share.size(); ++i) by_share[i] += scores.sufficiency[i] / count;
    }
    EXPECT_NEAR(comprehensiveness, one["without_area"].get<double>(), kClose);
    EXPECT_NEAR(sufficiency, one["alone_area"].get<double>(), kClose);
    for (size_t i = 0; i < by_share.size(); ++i)
      EXPECT_NEAR(by_share[i], one["alone_by_share"][i].get<double>(), kClose);
  }
}

TEST(ErasureFixtures, SpansMatchAsInEraser) {
  EXPECT_GE(fixture().at("overlaps").size(), 60U);
  for (const auto& one : fixture().at("overlaps")) {
    SCOPED_TRACE(one.dump());
    std::vector<SpanMatches> texts;
    for (const auto& text : one["texts"]) texts.push_back(match_spans(words(text[1]), words(text[0])));
    const Statistics all = span_f1_statistics(texts);
    Values sum(all.rows.front().size());
    for (const auto& row : all.rows)
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += row[i];
    EXPECT_NEAR(all.score(sum), one["f1"].get<double>(), kClose);
  }
}

}  // namespace
}  // namespace heed
