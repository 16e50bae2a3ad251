// Agreement with rationales, by hand.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "heed/explain/test.h"
#include "heed/explain/testing_explained.h"
#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using namespace heed::testing;
using Records = std::vector<ExplanationRecord>;
using Rationales = std::vector<std::vector<double>>;

std::shared_ptr<const ExplanationTest> plausibility() {
  return Catalogue<ExplanationTest>::make("plausibility");
}

Records measured(ExplainedModel& model, Rationales rationales, uint64_t seed = 1) {
  TestContext context;
  context.model = &model;
  context.rationales = std::move(rationales);
  context.seed = seed;
  std::vector<size_t> items;
  for (size_t i = 0; i < model.texts().size(); ++i) items.push_back(i);
  const auto batch = model.read(items);
  Records records = plausibility()->measure(*batch, context);
  for (size_t i = 0; i < records.size(); ++i) records[i]["item"] = i;
  return records;
}

double score(const ExplanationRecord& record, const std::string& attribution, const std::string& name) {
  return record.at("scores").at(attribution).at(name).get<double>();
}

/// A model whose texts have other words than tokens.
class WordedModel final : public ExplainedModel {
 public:
  WordedModel(MadeModel& made, std::vector<std::vector<int64_t>> word, int64_t words)
      : made_(made), texts_(made.texts()) {
    for (size_t i = 0; i < texts_.size(); ++i) {
      texts_[i].word = word.at(i);
      texts_[i].words.assign(static_cast<size_t>(words), "word");
    }
  }
  const ExplainedFacts& facts() const override { return made_.facts(); }
  const std::vector<ExplainedText>& texts() const override { return texts_; }
  std::unique_ptr<ExplainedBatch> read(const std::vector<size_t>& items) override { return made_.read(items); }

 private:
  MadeModel& made_;
  std::vector<ExplainedText> texts_;
};

const Rationales kFirst{{0, 1, 0, 1}, {}, {}, {}, {}};

// "film great good fine", weights 1, 8, 4, 2: found in the order great (marked), good, fine (marked), film. Half of the
// set's words are marked, so the first two are found: great and good, one span of two words and two gold spans of one.
TEST(Plausibility, IsWhatTheRankingGives) {
  const auto model = faithful_model();
  const auto record = measured(*model, kFirst)[0];
  EXPECT_EQ(record["words"], 4);
  EXPECT_EQ(record["relevant"], 2);
  EXPECT_NEAR(score(record, "attention", "average_precision"), 0.5 + 0.5 * 2 / 3, 1e-6);
  EXPECT_NEAR(score(record, "attention", "roc_auc"), 0.75, 1e-6);
  EXPECT_NEAR(score(record, "attention", "token_f1"), 0.5, 1e-6);
  EXPECT_EQ(record["scores"]["attention"]["spans"], (std::vector<int64_t>{1, 1, 2}));
  EXPECT_NEAR(score(record, "uniform", "average_precision"), 0.5, 1e-6);
  EXPECT_NEAR(score(record, "uniform", "roc_auc"), 0.5, 1e-6);
  EXPECT_EQ(record["maps"]["rationale"], (std::vector<double>{0, 0.5, 0, 0.5}));
}

// Marked: 2 of 4 and 1 of 2 words, and 4 of 4: 7 of 10. Of two words 1.4 are found, that is 1.
TEST(Plausibility, FindsTheShareOfTheSet) {
  const auto model = faithful_model();
  const auto records = measured(*model, {{0, 1, 0, 1}, {}, {0, 1}, {1, 1, 1, 1}, {}});
  EXPECT_NEAR(score(records[0], "attention", "token_f1"), 2. * 2 / (3 + 2), 1e-6);
  EXPECT_EQ(score(records[2], "attention", "token_f1"), 0);  // "good film", film is marked
  EXPECT_FALSE(records[3]["scores"]["attention"].contains("roc_auc"));
  EXPECT_EQ(score(records[3], "attention", "average_precision"), 1);
  EXPECT_TRUE(records[3].contains("counted_rationales_of_all_words"));
}

// Tokens 1, 8, 4, 2 are words 0, 1, 2, 2; the word 3 was cut.
TEST(Plausibility, SumsTheTokensOfAWord) {
  const auto made = std::make_unique<MadeModel>(made_vocabulary(), std::vector<std::string>{"film great good fine"},
                                                MadeOptions{.alignment = MadeWeights::free});
  WordedModel model(*made, {{0, 1, 2, 2}}, 4);
  const auto record = measured(model, {{0, 0, 1, 1}})[0];
  // Order: 1 (8), 2 (6, marked), 0 (1), 3 (0, marked).
  EXPECT_NEAR(score(record, "attention", "average_precision"), 0.5 * 0.5 + 0.5 * 0.5, 1e-6);
  EXPECT_NEAR(score(record, "attention", "roc_auc"), 0.25, 1e-6);
  EXPECT_TRUE(record.contains("counted_rationales_with_words_that_are_not_read"));
  EXPECT_EQ(record["maps"]["attention"].size(), 4U);
  EXPECT_NEAR(record["maps"]["attention"][2].get<double>(), 6. / 15, 1e-6);
}

TEST(Plausibility, GradedRationalesAreCutAtHalfOfTheLargest) {
  const auto model = faithful_model();
  const auto graded = measured(*model, {{0.1, 0.8, 0.3, 0.4}, {}, {}, {}, {}})[0];
  EXPECT_EQ(graded["relevant"], 2);
  EXPECT_EQ(graded["scores"], measured(*model, kFirst)[0]["scores"]);
}

TEST(Plausibility, DegenerateTextsAreCounted) {
  const auto model = degenerate_model();
  const auto records = measured(*model, {{1}, {}, {1, 0, 1}, {1, 0, 0}, {0, 0}, {0, 1, 0}});  // none of the last text
  EXPECT_TRUE(records[0].contains("counted_rationales_of_all_words"));
  EXPECT_TRUE(records[1].contains("undefined_no_words"));
  EXPECT_TRUE(records[2].contains("counted_texts_of_equal_weights"));
  EXPECT_TRUE(records[3].contains("undefined_attention_is_not_finite"));
  EXPECT_FALSE(records[3]["scores"].contains("attention"));
  EXPECT_TRUE(records[4].contains("undefined_empty_rationale"));
  EXPECT_TRUE(records[6].contains("undefined_no_rationale"));
  for (const auto& record : records) EXPECT_EQ(record.dump().find("null"), std::string::npos);
  const auto result = plausibility()->summarize(records, {.model = model.get(), .samples = 100, .min_texts = 1});
  EXPECT_EQ(result.verdict, ExplanationVerdict::neither);
  for (const auto& table : result.tables)
    for (const auto& row : table.rows)
      for (const auto& cell : row.cells) EXPECT_TRUE(cell.value ? std::isfinite(*cell.value) : !cell.text.empty());
}

/// Texts of four tokens in every order; great and good are marked.
std::pair<std::unique_ptr<MadeModel>, Rationales> marked() {
  std::vector<std::string> texts, order{"fine", "film", "good", "great"};
  std::sort(order.begin(), order.end());
  Rationales rationales;
  do {
    texts.emplace_back();
    rationales.emplace_back();
    for (const auto& token : order) {
      texts.back() += token + " ";
      rationales.back().push_back(token.starts_with("g") ? 1 : 0);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return {std::make_unique<MadeModel>(made_vocabulary(), texts, MadeOptions{.alignment = MadeWeights::free}),
          std::move(rationales)};
}

TEST(Plausibility, SaysThatPlausibleIsNotFaithful) {
  const auto [model, rationales] = marked();
  const auto result =
      plausibility()->summarize(measured(*model, rationales), {.model = model.get(), .samples = 200, .min_texts = 1});
  EXPECT_EQ(result.verdict, ExplanationVerdict::neither);
  EXPECT_NE(result.finding.find("the weights are plausible, about as much as gradient x input"), std::string::npos)
      << result.finding;
  EXPECT_TRUE(result.finding.ends_with("Plausible is not faithful."));
  ASSERT_EQ(result.tables.size(), 2U);
  EXPECT_EQ(result.tables[0].rows[0].cells[0].value, 1);  // average precision
  EXPECT_EQ(result.tables[0].rows[0].cells[3].value, 1);  // IoU F1
  EXPECT_EQ(result.examples.size(), 6U);
  EXPECT_EQ(result.examples[0].maps[0].name, "rationale");
}

TEST(Plausibility, NeedsRationalesOfAText) {
  ExplainedFacts facts{.task = "classify"};
  EXPECT_EQ(plausibility()->why_not(facts, true), "");
  EXPECT_EQ(plausibility()->why_not(facts, false), "the set has no rationales of people");
  facts.task = "translate";
  EXPECT_NE(plausibility()->why_not(facts, true), "");
  facts = {.task = "classify", .attends = false};
  EXPECT_NE(plausibility()->why_not(facts, true), "");
}

TEST(Plausibility, RefusesRationalesOfAnotherText) {
  const auto model = faithful_model();
  EXPECT_EQ(refusal([&] {
              measured(*model, {{1, 0}, {}, {}, {}, {}});
            }),
            "explain: plausibility: text text 0: got 2 weights of people and 4 words, expected equal numbers");
}

TEST(Plausibility, OfNoTextsFindsNothing) {
  EXPECT_EQ(plausibility()->summarize({}, {}).finding, "No text has a rationale and weights, so nothing is found.");
}

}  // namespace
}  // namespace heed
