// Tests that train models, on models whose answers are known by construction: what they ask to be trained, distances of
// weights and figures by hand, and the verdicts.

#include "heed/explain/retrained.h"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "heed/data/recipe.h"
#include "heed/explain/testing_explained.h"
#include "heed/models/classify/model.h"

namespace heed::testing {
namespace {

using Records = std::vector<ExplanationRecord>;
using Models = std::map<std::string, std::unique_ptr<MadeModel>>;

std::shared_ptr<const ExplanationTest> test_named(const std::string& name) {
  return ExplanationTest::Parts::make(name);
}

Records records_of(const ExplanationTest& test, MadeModel& run, const Models& variants, size_t together = 100) {
  TestContext context{.model = &run};
  for (const auto& [name, model] : variants) context.variants[name] = model.get();
  Records all;
  for (size_t first = 0; first < run.texts().size(); first += together) {
    std::vector<size_t> items;
    for (size_t i = first; i < std::min(first + together, run.texts().size()); ++i) items.push_back(i);
    const auto batch = run.read(items);
    for (auto& record : test.measure(*batch, context)) {
      record["item"] = all.size();
      all.push_back(std::move(record));
    }
  }
  return all;
}

ExplanationResult found(const std::string& name, MadeModel& run, const Models& variants) {
  const auto test = test_named(name);
  return test->summarize(records_of(*test, run, variants), {.model = &run, .samples = 200, .min_texts = 1});
}

/// The vocabulary with the weights of "good" and "film", "bad" and "plot", and so on in reverse, or its values.
std::vector<MadeToken> changed_vocabulary(bool scores, bool values) {
  auto all = made_vocabulary();
  for (auto& one : all) {
    if (scores && one.score > kUnattended && std::isfinite(one.score)) one.score = 3 * std::log(2.0) - one.score;
    if (values) std::swap(one.values[0], one.values[1]);
  }
  return all;
}

std::unique_ptr<MadeModel> changed_model(bool scores, bool values, MadeOptions options = {}) {
  if (!options.ignores_weights) options.alignment = MadeWeights::free;
  options.gold = {1, 0, 1, 0, 1};
  return std::make_unique<MadeModel>(changed_vocabulary(scores, values), made_texts(), std::move(options));
}

const ExplanationCell& cell(const ExplanationResult& result, size_t table, const std::string& row, size_t column) {
  for (const auto& one : result.tables.at(table).rows)
    if (one.name == row) return one.cells.at(column);
  fail("no row ", row);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// ---- what is trained ----

TEST(RetrainedVariants, ShareModelsAndHaveTheirRecipesInOverrides) {
  const VariantOptions options{.run = "runs/a", .seeds = 3, .lambdas = {0, 0.0005, 0.001}, .run_seed = 5};
  std::map<std::string, std::vector<std::string>> all;
  std::map<std::string, size_t> counts;
  for (const char* const name : {"uniform", "seeds", "guide", "adversary"})
    for (const auto& one : test_named(name)->variants(options)) {
      const auto [at, is_new] = all.emplace(one.name, one.overrides);
      EXPECT_EQ(at->second, one.overrides) << one.name;
      ++counts[name];
    }
  EXPECT_EQ(counts["uniform"], 2 + 3U);
  EXPECT_EQ(counts["seeds"], 2U);
  EXPECT_EQ(counts["guide"], 4 * 3 + 1U);
  EXPECT_EQ(counts["adversary"], 2 + 3U);
  EXPECT_EQ(all.size(), 2 + 3 + 12 + 3U);
  using Overrides = std::vector<std::string>;
  EXPECT_EQ(all["seed_7"], (Overrides{"train.seed=7"}));
  EXPECT_EQ(all["uniform_seed_5"], (Overrides{"model.attention.align=uniform", "train.seed=5"}));
  EXPECT_EQ(all["adversary_0.0005"],
            (Overrides{"train.adversary.run=runs/a", "train.adversary.lambda=0.0005", "train.seed=6",
                       "eval.monitor=adversary_loss", "model.embedding.dropout=0", "model.embedding.token_dropout=0",
                       "model.output.dropout=0"}));
  EXPECT_EQ(all["tokenwise_of_adversary_seed_6"],
            (Overrides{"model.features={kind: tokenwise, dim: 256}", "train.guide.run=runs/a/explain/adversary_0.0005",
                       "train.seed=6"}));
}

TEST(RetrainedVariants, OfOneSeedStillHaveANoiseFloor) {
  EXPECT_EQ(test_named("seeds")->variants({.seeds = 1}).size(), 1U);
  EXPECT_EQ(test_named("adversary")->variants({.seeds = 1, .lambdas = {0.01}}).size(), 2U);
  EXPECT_EQ(test_named("guide")->variants({.seeds = 1, .lambdas = {}}).size(), 3U);
}

TEST(RetrainedVariants, DoNotApplyToWhatHasNoClassesOrNoWeights) {
  for (const char* const name : {"uniform", "seeds", "guide", "adversary"}) {
    const auto test = test_named(name);
    EXPECT_EQ(test->why_not({.task = "classify"}, false), "");
    EXPECT_NE(test->why_not({.task = "translate"}, false), "");
    EXPECT_NE(test->why_not({.task = "classify", .attends = false}, false), "");
  }
}

// ---- figures ----

TEST(SeedsTest, FindsTheDistancesOfItsFormulas) {
  const auto run = faithful_model();
  Models variants;
  variants["seed_2"] = changed_model(true, false);
  variants["seed_3"] = faithful_model();
  const auto test = test_named("seeds");
  const Records records = records_of(*test, *run, variants), one_by_one = records_of(*test, *run, variants, 1);
  ASSERT_EQ(records.size(), 5U);
  for (size_t i = 0; i < records.size(); ++i) EXPECT_EQ(records[i], one_by_one[i]);
  // "good film": 4 and 1 of 5; in reverse 2 and 8 of 10
  const double jsd = 0.8 * std::log(0.8 / 0.5) + 0.2 * std::log(0.2 / 0.5);
  EXPECT_NEAR(records[2]["jsd seed_2"].get<double>(), jsd, 1e-6);
  EXPECT_EQ(records[2]["jsd seed_3"].get<double>(), 0);
  EXPECT_NEAR(records[2]["jsd"].get<double>(), jsd / 2, 1e-6);
  EXPECT_NEAR(records[2]["max_weight"].get<double>(), 0.8, 1e-6);
  const auto p = [](double logit) { return 1 / (1 + std::exp(-logit)); };
  EXPECT_NEAR(records[2]["tvd seed_2"].get<double>(), p(1.0) - p(0.5), 1e-5);  // 0.1 (8 + 2) and 0.1 (4 + 1)
  const ExplanationResult result = test->summarize(records, {.model = run.get(), .samples = 200, .min_texts = 1});
  EXPECT_EQ(result.verdict, ExplanationVerdict::neither);
  EXPECT_EQ(cell(result, 0, "seed_3", 0).value, 0);
  EXPECT_GT(*cell(result, 0, "seed_2", 0).value, 0.1);
  EXPECT_EQ(cell(result, 1, "0.75 to 1", 0).text, "1");
  EXPECT_FALSE(result.examples.empty());
}

TEST(UniformTest, ComparesTheMeanF1OfSeeds) {
  const auto run = faithful_model();
  Models variants;
  variants["seed_2"] = faithful_model();
  variants["uniform_seed_1"] = ignoring_model();
  variants["uniform_seed_2"] = ignoring_model();
  ExplanationResult result = found("uniform", *run, variants);
  EXPECT_EQ(cell(result, 0, "equal weights", 0).value, 1);
  EXPECT_EQ(cell(result, 0, "the model's", 3).value, 0);
  EXPECT_TRUE(contains(result.finding, "as well without weights")) << result.finding;
  variants["uniform_seed_1"] = changed_model(false, true);  // every class is wrong
  variants["uniform_seed_2"] = changed_model(false, true);
  result = found("uniform", *run, variants);
  EXPECT_EQ(cell(result, 0, "equal weights", 0).value, 0);
  EXPECT_EQ(cell(result, 0, "the model's", 2).value, 1);
  EXPECT_EQ(cell(result, 0, "the model's", 3).value, 1);
  EXPECT_TRUE(contains(result.finding, "attention is of use")) << result.finding;
  variants["uniform_seed_1"] = ignoring_model();
  EXPECT_EQ(cell(found("uniform", *run, variants), 0, "equal weights", 0).value, 0.5);  // the mean of two models
  EXPECT_EQ(cell(found("uniform", *run, variants), 0, "equal weights", 1).value, 0.5);  // and their deviation
}

TEST(GroupFigures, AreMacroF1AndAccuracy) {
  const auto run = faithful_model();
  Records records;
  const std::vector<int64_t> gold{1, 0, 1, 0, 1}, predicted{0, 0, 1, 0, 1};
  for (size_t i = 0; i < gold.size(); ++i) records.push_back({{"gold", {gold[i]}}, {"predicted run", {predicted[i]}}});
  records.push_back({{"gold", {1}}, {"undefined_nan_outputs", true}});
  const auto figures = group_figures(records, {{"all", {"run"}}}, {.model = run.get(), .samples = 50, .min_texts = 1});
  EXPECT_NEAR(*figures.front().f1.value, 0.8, 1e-12);  // classes 1 and 0 have 2 * 2 / (2 + 3)
  EXPECT_NEAR(*figures.front().accuracy.value, 0.8, 1e-12);
}

TEST(AdversaryTest, SpeaksAgainstWeightsThatTheOutputsIgnore) {
  const auto run = ignoring_model();
  Models variants;
  variants["seed_2"] = ignoring_model();
  variants["adversary_0"] = ignoring_model();
  variants["adversary_0.001"] = changed_model(true, false, {.ignores_weights = true});
  const ExplanationResult result = found("adversary", *run, variants);
  EXPECT_EQ(result.verdict, ExplanationVerdict::speaks_against) << result.finding;
  EXPECT_EQ(cell(result, 0, "lambda = 0.001", 1).value, 0);
  EXPECT_GT(*cell(result, 0, "lambda = 0.001", 0).value, 0.1);
  ASSERT_EQ(result.plots.size(), 2U);
  EXPECT_EQ(result.plots.front().series.front().points.size(), 2U);
  EXPECT_FALSE(result.examples.empty());
}

TEST(AdversaryTest, SpeaksForWeightsThatTheOutputsNeed) {
  const auto run = faithful_model();
  Models variants;
  variants["seed_2"] = faithful_model();
  variants["adversary_0.001"] = changed_model(true, false);
  ExplanationResult result = found("adversary", *run, variants);
  EXPECT_EQ(result.verdict, ExplanationVerdict::neither) << result.finding;  // nothing shows that training succeeds
  variants["adversary_0"] = faithful_model();
  result = found("adversary", *run, variants);
  EXPECT_EQ(result.verdict, ExplanationVerdict::speaks_for) << result.finding;
  EXPECT_TRUE(contains(result.finding, "other weights cost other outputs")) << result.finding;
  variants["adversary_0.001"] = faithful_model();  // it comes back with the weights of the run
  result = found("adversary", *run, variants);
  EXPECT_EQ(result.verdict, ExplanationVerdict::neither) << result.finding;
  EXPECT_TRUE(contains(result.finding, "no adversary is twice as far")) << result.finding;
}

TEST(AdversaryTest, DecidesNothingWhereSeedsAreAsFarAwayAsWeightsCanBe) {
  const auto peaked = [](double first, double second) {
    return std::make_unique<MadeModel>(std::vector<MadeToken>{{"one", first, {0, 0.1}}, {"two", second, {0, 0.1}}},
                                       std::vector<std::string>{"one two", "two one", "one one two"},
                                       MadeOptions{.gold = {1, 1, 1}});
  };
  const auto run = peaked(9, 0);
  Models variants;
  variants["seed_2"] = peaked(0, 9);
  variants["adversary_0.001"] = peaked(0, 9);
  const ExplanationResult result = found("adversary", *run, variants);
  EXPECT_GT(*cell(result, 0, "other seeds", 0).value, 0.6);
  EXPECT_EQ(result.verdict, ExplanationVerdict::neither) << result.finding;
  EXPECT_TRUE(contains(result.finding, "decides nothing")) << result.finding;
}

TEST(GuideTest, SpeaksForWeightsThatGuideAndAgainstThoseThatDoNot) {
  const auto run = faithful_model();
  const auto right = [] { return faithful_model(); };
  const auto wrong = [] { return changed_model(false, true); };
  const auto verdict = [&](std::unique_ptr<MadeModel> of_run, std::unique_ptr<MadeModel> equal,
                           std::unique_ptr<MadeModel> own) {
    Models variants;
    variants["tokenwise_of_run_seed_1"] = std::move(of_run);
    variants["tokenwise_uniform_seed_1"] = std::move(equal);
    variants["tokenwise_own_seed_1"] = std::move(own);
    variants["tokenwise_of_adversary_seed_1"] = wrong();
    variants["adversary_0.001"] = right();
    return found("guide", *run, variants).verdict;
  };
  EXPECT_EQ(verdict(right(), wrong(), wrong()), ExplanationVerdict::speaks_for);
  EXPECT_EQ(verdict(right(), wrong(), right()), ExplanationVerdict::neither);
  EXPECT_EQ(verdict(right(), right(), wrong()), ExplanationVerdict::speaks_against);
  EXPECT_EQ(verdict(wrong(), right(), wrong()), ExplanationVerdict::speaks_against);
}

// ---- degenerate texts ----

TEST(RetrainedTests, CountDegenerateTextsAndHaveNoNaN) {
  const auto run = degenerate_model();
  for (const char* const name : {"uniform", "seeds", "guide", "adversary"}) {
    Models variants;
    for (const char* const variant : {"seed_2", "uniform_seed_1", "uniform_seed_2", "tokenwise_of_run_seed_1",
                                      "tokenwise_uniform_seed_1", "tokenwise_own_seed_1", "adversary_0.001"})
      variants[variant] = degenerate_model();
    const auto test = test_named(name);
    const Records records = records_of(*test, *run, variants);
    for (const auto& record : records) EXPECT_FALSE(contains(record.dump(), "null")) << name << record.dump();
    const ExplanationResult result = test->summarize(records, {.model = run.get(), .samples = 100, .min_texts = 1});
    EXPECT_FALSE(result.finding.empty()) << name;
    EXPECT_FALSE(contains(as_json({.results = {result}}).dump(), "NaN")) << name;
    bool nan = false;
    for (const auto& [what, count] : result.counts) nan = nan || (what == "left out: nan outputs" && count == 1);
    EXPECT_TRUE(nan) << name;
  }
  const auto test = test_named("seeds");
  Models variants;
  variants["seed_2"] = degenerate_model();
  const Records records = records_of(*test, *run, variants);
  EXPECT_TRUE(records[0].contains("undefined_one_token"));
  EXPECT_TRUE(records[1].contains("undefined_no_tokens"));
  EXPECT_TRUE(records[3].contains("undefined_nan_weights"));
  EXPECT_TRUE(records[4].contains("undefined_no_weights"));
  EXPECT_EQ(records[5]["jsd"].get<double>(), 0);
}

TEST(RetrainedTests, OfNoTextsFindNothing) {
  const auto run = faithful_model();
  for (const char* const name : {"uniform", "seeds", "guide", "adversary"}) {
    const ExplanationResult result =
        test_named(name)->summarize({}, {.model = run.get(), .samples = 10, .min_texts = 1});
    EXPECT_EQ(result.verdict, ExplanationVerdict::neither) << name;
    EXPECT_FALSE(result.finding.empty()) << name;
  }
}

}  // namespace
}  // namespace heed::testing
