// Erasure on models whose answers are known by construction.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "heed/explain/test.h"
#include "heed/explain/testing_explained.h"

namespace heed {
namespace {

using namespace heed::testing;
using Records = std::vector<ExplanationRecord>;

std::shared_ptr<const ExplanationTest> erasure() {
  return Catalogue<ExplanationTest>::make("erasure");
}

/// Of texts that are read together, so many at a time; "item" as the runner adds it.
Records measured(MadeModel& model, size_t together = 100, uint64_t seed = 1) {
  TestContext context;
  context.model = &model;
  context.seed = seed;
  Records all;
  for (size_t first = 0; first < model.texts().size(); first += together) {
    std::vector<size_t> items;
    for (size_t i = first; i < std::min(first + together, model.texts().size()); ++i) items.push_back(i);
    const auto batch = model.read(items);
    for (auto& record : erasure()->measure(*batch, context)) {
      record["item"] = items[all.size() - first];
      all.push_back(std::move(record));
    }
  }
  return all;
}

ExplanationResult found(MadeModel& model) {
  return erasure()->summarize(measured(model), {.model = &model, .samples = 200, .min_texts = 1});
}

double score(const ExplanationRecord& record, const std::string& attribution, const std::string& name) {
  return record.at("scores").at(attribution).at(name).get<double>();
}

double logistic(double logit) {
  return 1 / (1 + std::exp(-logit));
}

int64_t count(const ExplanationResult& result, const std::string& name) {
  for (const auto& [one, number] : result.counts)
    if (one == name) return number;
  return 0;
}

/// Texts of four of these tokens, in every order.
MadeModel model_of(const std::vector<MadeToken>& vocabulary, MadeOptions options) {
  std::vector<std::string> texts;
  std::vector<size_t> order{0, 1, 2, 3};
  do {
    std::string text;
    for (const size_t i : order) text += vocabulary[i].token + " ";
    texts.push_back(text);
  } while (std::next_permutation(order.begin(), order.end()));
  return {vocabulary, texts, std::move(options)};
}

// "film great good fine": weights 1, 8, 4, 2 and logits of a tenth of them. One token is the first four shares, two are
// one half.
TEST(Erasure, IsWhatTheDerivationGives) {
  const auto model = faithful_model();
  const auto record = measured(*model)[0];
  const double whole = logistic(1.5);
  const double lost = whole - logistic(0.7), lost_two = whole - logistic(0.3);
  const double alone = whole - logistic(0.8), alone_two = whole - logistic(1.2);
  for (const std::string name : {"attention", "gradient_x_input", "leave_one_out"}) {
    EXPECT_NEAR(score(record, name, "comprehensiveness_area"), (4 * lost + lost_two) / 5, 2e-6) << name;
    EXPECT_NEAR(score(record, name, "sufficiency_area"), (4 * alone + alone_two) / 5, 2e-6) << name;
    EXPECT_NEAR(record["scores"][name]["comprehensiveness"][0].get<double>(), lost, 2e-6) << name;
    EXPECT_NEAR(record["scores"][name]["sufficiency"][4].get<double>(), alone_two, 2e-6) << name;
    EXPECT_EQ(score(record, name, "flip_one"), 0) << name;
    EXPECT_EQ(score(record, name, "flip_share"), 1) << name;  // without any token, the first of two equal classes
    EXPECT_EQ(score(record, name, "flips"), 1) << name;
  }
  EXPECT_LE(score(record, "random", "comprehensiveness_area"), score(record, "attention", "comprehensiveness_area"));
  EXPECT_FALSE(record["scores"].contains("rollout"));
  EXPECT_NEAR(record["probability"].get<double>(), whole, 2e-6);
  EXPECT_EQ(record["predicted"], 1);
}

TEST(Erasure, KnowsDecisionsThatNeverFlip) {
  const auto model = faithful_model();
  const auto record = measured(*model)[1];  // of class 0, which no text without tokens leaves
  EXPECT_EQ(score(record, "attention", "flips"), 0);
  EXPECT_EQ(score(record, "attention", "flip_share"), 1);
}

// Without one twin the other one is enough; without both, class 0.
TEST(Erasure, FindsHowManyTokensFlip) {
  const auto model = redundant_model();
  const auto records = measured(*model);
  EXPECT_EQ(score(records[0], "attention", "flip_one"), 0);
  EXPECT_EQ(score(records[0], "attention", "flip_share"), 0.5);
  EXPECT_NEAR(score(records[1], "attention", "flip_share"), 0.4, 1e-6);  // two of five tokens: between two shares
  EXPECT_NEAR(records[0]["scores"]["attention"]["comprehensiveness"][4].get<double>(), logistic(3.25) - logistic(-0.75),
              2e-6);
}

TEST(Erasure, EqualWeightsAreADrawnOrder) {
  const auto model = degenerate_model();
  const auto record = measured(*model)[2];  // "good good good"
  EXPECT_EQ(record["scores"]["attention"], record["scores"]["uniform"]);
  EXPECT_TRUE(record.contains("counted_texts_of_equal_weights"));
}

TEST(Erasure, DoesNotDependOnBatches) {
  const auto model = faithful_model(), padded = faithful_model({.padding = 3});
  EXPECT_EQ(measured(*model), measured(*model, 2));
  EXPECT_EQ(measured(*model), measured(*padded, 1));
  EXPECT_NE(measured(*model), measured(*model, 2, /*seed=*/2));
}

TEST(Erasure, IsTheMeanOverPositions) {
  const auto one = faithful_model(), two = faithful_model({.positions = 2, .ends = {1, 2, 2, 2, 2}});
  const auto single = measured(*one), several = measured(*two);
  EXPECT_EQ(single[0]["scores"]["attention"], several[0]["scores"]["attention"]);
  // "plot awful poor" at the second position: a = 2^(s / 2), logits against class 1 of a tenth.
  const auto at = [](double rest, double all) { return logistic(0.1 * all) - logistic(0.1 * rest); };
  const double awful = std::pow(2, 1.5), poor = std::sqrt(2.);
  const double first = at(3, 11), second = at(1 + poor, 1 + awful + poor);
  EXPECT_NEAR(several[1]["scores"]["attention"]["comprehensiveness"][0].get<double>(), (first + second) / 2, 2e-6);
  EXPECT_FALSE(several[1].contains("predicted"));
}

TEST(Erasure, DegenerateTextsAreDefinedAndCounted) {
  const auto model = degenerate_model();
  const auto records = measured(*model);
  EXPECT_TRUE(records[0].contains("counted_texts_of_one_token"));
  EXPECT_NEAR(score(records[0], "attention", "sufficiency_area"), 0, 1e-6);
  EXPECT_EQ(records[0]["scores"]["attention"], records[0]["scores"]["random"]);
  EXPECT_TRUE(records[1].contains("undefined_no_tokens"));
  EXPECT_FALSE(records[1].contains("scores"));
  EXPECT_TRUE(records[3].contains("undefined_output_is_not_finite"));
  EXPECT_EQ(records[4]["scores"]["attention"], records[4]["scores"]["uniform"]);  // all weights are 0
  const ExplanationResult result = found(*model);
  EXPECT_EQ(count(result, "texts"), 7);
  EXPECT_EQ(count(result, "left out: no tokens"), 1);
  EXPECT_EQ(count(result, "left out: output is not finite"), 1);
  EXPECT_EQ(count(result, "texts of one token"), 1);
  EXPECT_EQ(count(result, "texts of equal weights"), 2);
  for (const auto& record : records) EXPECT_EQ(record.dump().find("null"), std::string::npos);
  for (const auto& table : result.tables)
    for (const auto& row : table.rows)
      for (const auto& cell : row.cells) EXPECT_TRUE(cell.value ? std::isfinite(*cell.value) : !cell.text.empty());
}

TEST(Erasure, SpeaksForWeightsThatAreAllThereIs) {
  auto model = model_of(made_vocabulary(), {.alignment = MadeWeights::free});
  const ExplanationResult result = found(model);
  EXPECT_EQ(result.verdict, ExplanationVerdict::speaks_for) << result.finding;
  ASSERT_EQ(result.tables.size(), 4U);
  EXPECT_EQ(result.tables[0].rows[0].name, "attention");
  const double lost = logistic(1.5) - logistic(0.7), lost_two = logistic(1.5) - logistic(0.3);
  EXPECT_NEAR(result.tables[0].rows[0].cells[0].value.value(), (4 * lost + lost_two) / 5, 2e-6);
  EXPECT_EQ(result.tables[1].rows.size(), result.tables[0].rows.size() - 1);
  EXPECT_EQ(result.examples.size(), 6U);
  EXPECT_EQ(result.examples[0].maps.size(), 3U);
  EXPECT_EQ(result.examples[0].maps[0].weights.size(), 4U);
}

// Small weights are on what the output, a mean of values, is made of.
TEST(Erasure, SpeaksAgainstWeightsThatAreOnOtherTokens) {
  auto model =
      model_of({{"a", 3, {0, 0.1}}, {"b", 2, {0, 0.4}}, {"c", 1, {0, 2}}, {"d", 0, {0, 6}}}, {.ignores_weights = true});
  const ExplanationResult result = found(model);
  EXPECT_EQ(result.verdict, ExplanationVerdict::speaks_against) << result.finding;
}

TEST(Erasure, DecidesNothingWhereNoTokenMattersMore) {
  auto model = model_of(made_vocabulary(), {.ignores_weights = true});
  const ExplanationResult result = found(model);
  EXPECT_EQ(result.verdict, ExplanationVerdict::neither) << result.finding;
}

// Weights that are the same for all tokens, while values are not: the order of attention is that of uniform, which by
// chance may differ from that of random.
TEST(Erasure, SpeaksAgainstEqualWeights) {
  auto model = model_of({{"a", 1, {0, 0.1}}, {"b", 1, {0, 0.4}}, {"c", 1, {0, 2}}, {"d", 1, {0, 6}}}, {});
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto result =
        erasure()->summarize(measured(model, 100, seed), {.model = &model, .samples = 200, .min_texts = 1});
    EXPECT_EQ(result.verdict, ExplanationVerdict::speaks_against) << seed << result.finding;
  }
}

TEST(Erasure, OfFewTextsFindsNothing) {
  const auto model = faithful_model();
  const auto records = measured(*model);
  EXPECT_EQ(erasure()->summarize({}, {}).finding, "No text has figures, so nothing is found.");
  EXPECT_EQ(erasure()->summarize({records[0]}, {}).finding, "Fewer than two texts have figures, so nothing is found.");
  const auto five = erasure()->summarize(records, {});
  EXPECT_TRUE(five.finding.ends_with("5 texts are too few for a verdict.")) << five.finding;
  EXPECT_EQ(five.verdict, ExplanationVerdict::neither);
  EXPECT_EQ(erasure()->summarize({records[0]}, {}).tables[0].rows[0].cells[0].low, std::nullopt);
}

TEST(Erasure, NeedsWeights) {
  ExplainedFacts facts;
  EXPECT_EQ(erasure()->why_not(facts, false), "");
  facts.attends = false;
  EXPECT_EQ(erasure()->why_not(facts, false), "the model has no weights of tokens");
}

}  // namespace
}  // namespace heed
