// Intervals and p against sacreBLEU's, within Monte Carlo error: fixtures/significance_scores.py writes
// fixtures/significance.json. Of WMT17 the file has figures alone; those tests are skipped if
// ../shared/data/mt-metric-fixtures does not exist; HEED_DATA names the data folder.

#include <cmath>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/significance.h"
#include "heed/metrics/statistics.h"
#include "heed/metrics/testing_wmt17.h"

namespace heed {
namespace {

using nlohmann::json;

json significance_fixture() {
  std::ifstream file("heed/metrics/fixtures/significance.json");
  return json::parse(file);
}

Statistics statistics_of(const std::string& metric, const Sentences& hypotheses, const Sentences& references) {
  if (metric == "bleu") return bleu_statistics(hypotheses, {references});
  if (metric == "ter") return ter_statistics(hypotheses, {references});
  return chrf_statistics(hypotheses, {references}, {.word_order = metric == "chrf++" ? size_t{2} : 0});
}

/// p of two runs with as many samples each differ by less than 5 standard errors.
void expect_same_p(double found, const json& expected, double samples) {
  const double p = expected.at("p").get<double>(), middle = (found + p) / 2;
  EXPECT_NEAR(found, p, 5 * std::sqrt(2 * middle * (1 - middle) / samples)) << expected;
}

/// The mean of samples has the error s / sqrt(samples), and half the interval, 1.96 s, about the same.
void expect_same_interval(const Interval& found, const json& expected, double samples) {
  const double half = expected.at("half").get<double>(), error = 5 * half * std::sqrt(2 / samples);
  EXPECT_NEAR((found.high - found.low) / 2, half, error) << expected;
  EXPECT_NEAR(found.mean, expected.at("mean").get<double>(), error) << expected;
}

/// figures: one part of the fixture; systems: their statistics by metric, in the order of the fixture.
void expect_sacrebleu(const json& figures, const std::map<std::string, std::vector<Statistics>>& systems) {
  const auto samples = figures.at("samples").get<double>();
  const ResamplingOptions options{.samples = figures.at("samples").get<int64_t>(), .like_sacrebleu = true};
  for (const auto& [metric, rows] : figures.at("bootstrap").items()) {
    SCOPED_TRACE(metric);
    const auto outputs = resampled(systems.at(metric));
    const auto scores = scores_of(outputs);
    const auto of_samples = bootstrap_scores(outputs, options);
    const auto bootstrap = paired_bootstrap_of(outputs, of_samples, options);
    const auto randomization = paired_randomization(outputs, options);
    const auto& assignments = figures.at("randomization").at(metric);
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_NEAR(scores[i], rows[i].at("score").get<double>(), 1e-9);
      expect_same_interval(confidence_interval(of_samples[i]), rows[i], samples);
      if (i == 0) continue;
      expect_same_p(bootstrap[i - 1].p, rows[i], samples);
      expect_same_p(randomization[i - 1].p, assignments[i], samples);
    }
  }
}

TEST(Significance, IsThatOfSacrebleuForSystemsThatAreMadeUp) {
  const json figures = significance_fixture().at("made_up");
  const auto references = figures.at("references").get<Sentences>();
  std::map<std::string, std::vector<Statistics>> systems;
  for (const auto& [metric, rows] : figures.at("bootstrap").items())
    for (const auto& row : rows)
      systems[metric].push_back(statistics_of(
          metric, figures.at("systems").at(row.at("system").get<std::string>()).get<Sentences>(), references));
  ASSERT_EQ(systems.size(), 4U);
  ASSERT_EQ(systems.at("bleu").size(), 4U);
  expect_sacrebleu(figures, systems);
}

TEST(Significance, IsThatOfSacrebleuForWmt17) {
  const auto references = testing::wmt17("newstest2017.ref.de.gz");
  if (references.empty()) GTEST_SKIP() << testing::kNoWmt17;
  std::map<std::string, std::vector<Statistics>> whole;
  for (const char* system : {"C-3MA.4959.de.gz", "uedin-nmt.4722.de.gz"})
    for (const char* metric : {"bleu", "chrf", "chrf++", "ter"})
      whole[metric].push_back(statistics_of(metric, testing::wmt17(system), references));
  const json parts = significance_fixture().at("wmt17");
  ASSERT_EQ(parts.size(), 3U);
  for (const auto& figures : parts) {
    SCOPED_TRACE(figures.at("lines").dump());
    auto systems = whole;
    for (auto& [metric, all] : systems)
      for (auto& one : all) one.rows.resize(figures.at("lines").get<size_t>());
    expect_sacrebleu(figures, systems);
  }
}

}  // namespace
}  // namespace heed
