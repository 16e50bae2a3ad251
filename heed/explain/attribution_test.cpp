// Each attribution on models whose answers are known by construction.

#include "heed/explain/attribution.h"

#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "heed/explain/predicted.h"
#include "heed/explain/testing_explained.h"
#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using namespace heed::testing;
using Values = std::vector<double>;

Tensor attributed(const std::string& spec, ExplainedBatch& batch, uint64_t seed = 1) {
  return Catalogue<Attribution>::make(spec)->attribute(batch, seed);
}

/// Of the first position of the text `row` of the batch.
Values values_of(const Tensor& found, const ExplainedBatch& batch, int64_t row = 0, int64_t position = 0) {
  Values all;
  for (const int64_t slot : token_slots(batch, row)) all.push_back(found[row][position][slot].item<double>());
  return all;
}

void expect_near(const Values& found, const Values& expected, double tolerance = 1e-6) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << "token " << i;
}

double logistic(double logit) {
  return 1 / (1 + std::exp(-logit));
}

const std::vector<size_t> kAll{0, 1, 2, 3, 4};

TEST(Attributions, AreListedWithAttentionFirst) {
  std::vector<std::string> names(8);
  for (const auto& name : Catalogue<Attribution>::names())
    names.at(static_cast<size_t>(Catalogue<Attribution>::describe(name).order - 1)) = name;
  EXPECT_EQ(names, (std::vector<std::string>{"attention", "attention_value_norm", "rollout", "gradient_x_input",
                                             "integrated_gradients", "leave_one_out", "random", "uniform"}));
}

TEST(AttentionWeights, AreThoseOfTheModel) {
  const auto model = faithful_model({.padding = 2});
  const auto batch = model->read({2, 0});  // "good film", "film great good fine"
  const Tensor found = attributed("attention", *batch);
  EXPECT_EQ(found.sizes(), (at::IntArrayRef{2, 1, 6}));
  expect_near(values_of(found, *batch, 0), {4, 1});
  expect_near(values_of(found, *batch, 1), {1, 8, 4, 2});
  EXPECT_EQ(found.slice(-1, 4).abs().sum().item<double>(), 0);
}

TEST(AttentionValueNorm, MultipliesByTheSizeOfTheValue) {
  const auto model = redundant_model();  // "twin the a twin", values 1, 1/4, 1/4, 1
  const auto batch = model->read({0});
  expect_near(values_of(attributed("attention_value_norm", *batch), *batch), {4, 0.5, 0.25, 4});
}

class LayeredBatch final : public MadeBatch {
 public:
  using MadeBatch::MadeBatch;
  Tensor rollout() override { return at::full({size(), 1, tokens()}, 0.5); }
};

TEST(Rollout, IsTheModelsOwnWithoutPadding) {
  const auto model = faithful_model({.padding = 1});
  LayeredBatch batch(*model, {2});
  EXPECT_TRUE(at::equal(attributed("rollout", batch), at::tensor({0.5F, 0.5F, 0.0F}).view({1, 1, 3})));
}

TEST(Rollout, IsUndefinedWithoutLayers) {
  const auto batch = faithful_model()->read({0});
  EXPECT_FALSE(attributed("rollout", *batch).defined());
}

// p = softmax(l) of l = (0, sum a v), a = exp(s): x . dp/dx = p (1 - p) (a s v + a v), so the weights have their part.
TEST(GradientTimesInput, IsWhatTheDerivationGives) {
  const auto model = faithful_model();
  const auto batch = model->read({2, 1});  // "good film", "plot awful poor"
  const Tensor found = attributed("gradient_x_input", *batch);
  const double good = logistic(0.5), bad = logistic(1.1);
  const double two = std::log(2.);
  expect_near(values_of(found, *batch, 0), {good * (1 - good) * 0.1 * 4 * (1 + 2 * two), good * (1 - good) * 0.1});
  expect_near(values_of(found, *batch, 1), {bad * (1 - bad) * 0.1, bad * (1 - bad) * 0.1 * 8 * (1 + 3 * two),
                                            bad * (1 - bad) * 0.1 * 2 * (1 + two)});
}

TEST(GradientTimesInput, IsOfEachPosition) {
  const auto several = faithful_model({.positions = 3, .ends = {3, 2, 1, 3, 3}});
  const auto batch = several->read({1, 3});
  const Tensor found = attributed("gradient_x_input", *batch);
  ASSERT_EQ(found.sizes(), (at::IntArrayRef{2, 3, 4}));
  const auto one = faithful_model()->read({1});
  expect_near(values_of(found, *batch, 0, 0), values_of(attributed("gradient_x_input", *one), *one));
  // At the second position a = exp(s / 2): of "plot awful poor" 1, 2^1.5, 2^.5, and x . da/dx = a s / 2.
  const double awful = std::pow(2, 1.5), poor = std::sqrt(2.), p = logistic(0.1 * (1 + awful + poor));
  const double two = std::log(2.), scale = p * (1 - p) * 0.1;
  expect_near(values_of(found, *batch, 0, 1), {scale, scale * awful * (1 + 1.5 * two), scale * poor * (1 + 0.5 * two)});
  EXPECT_EQ(found[0][2].abs().sum().item<double>(), 0);  // the text has two positions
}

/// The sum over tokens, less the difference of outputs that it should be.
double incompleteness(const std::string& spec, MadeModel& model) {
  const auto batch = model.read({0});
  const Tensor rows = at::zeros({1}, at::kLong), classes = predicted_classes(*batch);
  const Tensor nothing = batch->outputs_from(rows, at::zeros_like(batch->embedded()), /*fixed_weights=*/false);
  const double difference = (batch->outputs - nothing).gather(-1, classes.unsqueeze(-1)).item<double>();
  return std::abs(attributed(spec, *batch).sum().item<double>() - difference);
}

TEST(IntegratedGradients, SumToTheDifferenceOfOutputs) {
  const auto model = faithful_model();
  EXPECT_LT(incompleteness("integrated_gradients", *model), 1e-3);
  EXPECT_LT(incompleteness("integrated_gradients(steps=200)", *model), 1e-5);
  EXPECT_GT(incompleteness("integrated_gradients(1)", *model), 1e-2);
}

TEST(IntegratedGradients, HaveASign) {
  const auto batch = redundant_model()->read({0});  // "twin the a twin": the and a speak against
  const Values found = values_of(attributed("integrated_gradients", *batch), *batch);
  EXPECT_GT(found[0], 0.1);
  EXPECT_LT(found[1], 0);
  EXPECT_LT(found[2], 0);
  EXPECT_NEAR(found[0], found[3], 1e-6);
}

TEST(IntegratedGradients, DoNotDependOnTheBatch) {
  const auto model = faithful_model({.padding = 3});
  const auto all = model->read(kAll), one = model->read({3});
  expect_near(values_of(attributed("integrated_gradients", *all), *all, 3),
              values_of(attributed("integrated_gradients", *one), *one));
}

TEST(IntegratedGradients, NeedSteps) {
  EXPECT_EQ(refusal([] { Catalogue<Attribution>::make("integrated_gradients(0)"); }),
            "attribution/integrated_gradients: got steps = 0, expected at least 1");
}

TEST(LeaveOneOut, IsWhatTheProbabilityLoses) {
  const auto model = faithful_model();
  const auto batch = model->read({2, 1});  // "good film", "plot awful poor"
  const Tensor found = attributed("leave_one_out", *batch);
  expect_near(values_of(found, *batch, 0), {logistic(0.5) - logistic(0.1), logistic(0.5) - logistic(0.4)});
  expect_near(values_of(found, *batch, 1),
              {logistic(1.1) - logistic(1), logistic(1.1) - logistic(0.3), logistic(1.1) - logistic(0.9)});
}

TEST(LeaveOneOut, MissesTokensThatReplaceEachOther) {
  const auto batch = redundant_model()->read({0});  // l_1 = min(8, 4) - 2/4 - 1/4
  const Values found = values_of(attributed("leave_one_out", *batch), *batch);
  expect_near(found, {0, logistic(3.25) - logistic(3.75), logistic(3.25) - logistic(3.5), 0});
}

TEST(RandomWeights, DependOnSeedAndItemAlone) {
  const auto model = faithful_model(), padded = faithful_model({.padding = 3});
  const auto all = model->read(kAll), one = padded->read({3});
  const Values found = values_of(attributed("random", *all), *all, 3);
  EXPECT_EQ(found, values_of(attributed("random", *one), *one));
  EXPECT_NE(found, values_of(attributed("random", *all, 2), *all, 3));
  EXPECT_NE(found, values_of(attributed("random", *all), *all, 0));
  for (const double value : found) {
    EXPECT_GT(value, 0);
    EXPECT_LT(value, 1);
  }
}

TEST(RandomWeights, DifferByPosition) {
  const auto batch = faithful_model({.positions = 2})->read({3});
  const Tensor found = attributed("random", *batch);
  EXPECT_NE(values_of(found, *batch, 0, 0), values_of(found, *batch, 0, 1));
}

TEST(UniformWeights, AreEqual) {
  const auto model = faithful_model({.padding = 1});
  const auto batch = model->read({1, 2});
  const Tensor found = attributed("uniform", *batch);
  expect_near(values_of(found, *batch, 0), {1. / 3, 1. / 3, 1. / 3});
  expect_near(values_of(found, *batch, 1), {0.5, 0.5});
  EXPECT_NEAR(found.sum().item<double>(), 2, 1e-6);
}

TEST(Attributions, OfAttentionNeedWeights) {
  ExplainedFacts facts;
  facts.attends = false;
  for (const auto& name : Catalogue<Attribution>::names()) {
    const bool of_weights = name.starts_with("attention") || name == "rollout";
    EXPECT_EQ(Catalogue<Attribution>::make(name)->why_not(facts),
              of_weights ? "the model has no weights of tokens" : "")
        << name;
  }
}

// NaN of one text stays there; texts of one token, or of none, have what all have.
TEST(Attributions, AreDefinedOnDegenerateTexts) {
  const auto model = degenerate_model();
  const auto batch = model->read({0, 1, 2, 3, 4, 5, 6});
  for (const auto& name : Catalogue<Attribution>::names()) {
    const Tensor found = attributed(name, *batch);
    if (name == "rollout") continue;
    ASSERT_EQ(found.sizes(), (at::IntArrayRef{7, 1, 4})) << name;
    EXPECT_EQ(found[1].abs().sum().item<double>(), 0) << name;
    for (const int64_t row : {0, 2, 4, 5, 6}) EXPECT_TRUE(at::isfinite(found[row]).all().item<bool>()) << name << row;
  }
}

TEST(PredictedClasses, AreTheLargestOutputs) {
  const auto batch = faithful_model({.positions = 2, .ends = {2, 1, 2, 2, 2}})->read({0, 1});
  EXPECT_TRUE(at::equal(predicted_classes(*batch), at::tensor({1, 1, 0, 0}, at::kLong).view({2, 2})));
}

TEST(ReadErased, DoesNotDependOnWhatIsReadTogether) {
  const auto batch = faithful_model()->read(kAll);
  std::vector<ErasedText> texts;
  for (int64_t b = 0; b < 5; ++b) texts.insert(texts.end(), {{b, {0}}, {b, {}}, {b, {0, 1}}});
  const auto together = read_erased(*batch, texts, false), alone = read_erased(*batch, texts, false, 1);
  ASSERT_EQ(together.size(), 15U);
  for (size_t i = 0; i < texts.size(); ++i) {
    expect_near(together[i].probability, alone[i].probability);
    EXPECT_EQ(together[i].flipped, alone[i].flipped);
  }
  EXPECT_NEAR(together[6].probability[0], logistic(0.1), 1e-6);  // "good film" without "good", as a whole, and nothing
  EXPECT_NEAR(together[7].probability[0], logistic(0.5), 1e-6);
  EXPECT_NEAR(together[8].probability[0], 0.5, 1e-6);
}

TEST(ReadErased, SeesDecisionsThatFlip) {
  const auto batch = redundant_model()->read({0});
  const auto found = read_erased(*batch, {{0, {0}}, {0, {0, 3}}, {0, {0, 1, 2, 3}}}, false);
  EXPECT_FALSE(found[0].flipped[0]);  // the other twin is enough
  EXPECT_TRUE(found[1].flipped[0]);   // l = (0, -0.75)
  EXPECT_TRUE(found[2].flipped[0]);   // of equal probabilities, the first class
}

// sigmoid(l) of l = (0, 3.25): without both twins (0, -0.75). Class 0 stays at exactly 1/2, class 1 changes sides.
TEST(ReadErased, DecisionsOfIndependentClassesChangeSides) {
  const auto batch = redundant_model({.several = true})->read({0});
  const auto found = read_erased(*batch, {{0, {0}}, {0, {0, 3}}}, true);
  EXPECT_FALSE(found[0].flipped[0]);
  EXPECT_TRUE(found[1].flipped[0]);
}

}  // namespace
}  // namespace heed
