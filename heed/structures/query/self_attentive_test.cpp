#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

std::shared_ptr<Structure> over_features(const std::string& spec = "self_attentive(features)") {
  auto made = in_double(spec, {.features = {2}});
  set(*made, "to_query", {1, .5, 0, 1});  // the golden matrices apply to rows, x W; these are W^T
  set(*made, "to_keys", {.5, 1, -.5, 0});
  set(*made, "to_values", {1, 0, 2, 1});
  return made;
}

TEST(SelfAttentive, LetsEveryFeatureAskAllOthers) {
  const auto out = over_features()->forward({.features = {one_row(kF1, 2)}, .call = with_scores()});
  EXPECT_TRUE(is_golden(scores_of(out.step("attend")), {.35355339, .70710678, 1.06066017, -.17677670, .35355339,
                                                        .17677670, .17677670, 1.06066017, 1.23743687}));
  EXPECT_TRUE(is_golden(out.context, {.68013383, 2.13566132, .58786299, 1.93322016, .61634962, 2.07418440}));
  EXPECT_TRUE(is_golden(out.step("attend").weights, {.22460634, .31986617, .45552749, .24250583, .41213701, .34535716,
                                                     .15851484, .38365038, .45783478}));
}

TEST(SelfAttentive, LetsAFeatureAskOnlyThoseBeforeIt) {
  StructureInput given{.features = {one_row(kF1, 2)}};
  given.call.mask.causal = Causal::top_left;
  EXPECT_TRUE(is_golden(over_features()->forward(given).context, {1, 2, .37043990, 1.37043990, .61634962, 2.07418440}));
}

TEST(SelfAttentive, NormalizesTheSumOfFeatureAndContext) {
  const StructureInput given{.features = {one_row(kF1, 2)}};
  const auto plain = over_features()->forward(given).context;
  auto normed = over_features("self_attentive(features, norm)");
  const auto sum = plain + given.features[0].rows;
  EXPECT_TRUE(close(normed->forward(given).context, at::layer_norm(sum, {2}), 1e-12));
  set(*normed, "norm_scale", {2, 3});
  set(*normed, "norm_shift", {.5, -1});
  EXPECT_TRUE(close(normed->forward(given).context,
                    at::layer_norm(sum, {2}) * numbers({2, 3}, {2}) + numbers({.5, -1}, {2}), 1e-12));
}

TEST(SelfAttentive, GivesPaddingNothingEvenAfterTheNorm) {
  auto normed = over_features("self_attentive(features, norm)");
  set(*normed, "norm_shift", {.5, -1});
  auto rows = one_row(kF1, 2).rows;
  rows[0][1].fill_(NAN);
  const auto keep = at::tensor({1, 0, 1}).view({1, 3}).to(at::kBool);
  const auto out = normed->forward({.features = {{rows, keep}}});
  EXPECT_EQ(largest(out.context[0][1]), 0);
  EXPECT_GT(largest(out.context[0][2]), 0);
  EXPECT_TRUE(out.keep.equal(keep));
}

TEST(SelfAttentive, PoolsWithALearnedQuery) {
  auto made = in_double("self_attentive", {.features = {2}});
  set(*made, "attend.score.from_keys", kW2);
  set(*made, "attend.score.bias", kB);
  set(*made, "attend.score.query", kW);
  StructureInput given{.features = {one_row(kF1, 2)}};
  given.call.outputs.weights = true;
  const auto out = made->forward(given);
  EXPECT_TRUE(is_golden(out.context, {.76768470, .57152246}));
  EXPECT_TRUE(is_golden(out.step("attend").weights, {.42847754, .23231530, .33920716}));
}

std::shared_ptr<Structure> structured(const std::string& mechanism = "") {
  auto made = in_double("self_attentive(structured, queries=2)", {.features = {2}, .mechanism = mechanism});
  set(*made, "attend.score.from_keys", kW2);
  set(*made, "attend.score.query", {.7, -.5, -.3, .9});
  return made;
}

TEST(SelfAttentive, HasTheGoldenNumbersOfLin2017) {
  const auto out = structured()->forward({.features = {one_row(kF1, 2)}});
  EXPECT_TRUE(is_golden(out.context, {.76735655, .57167391, .53600945, .79759838}));
  EXPECT_TRUE(is_golden(out.step("attend").weights,  // each row of A sums to 1: over positions, not over queries
                        {.42832609, .23264345, .33903045, .20240162, .46399055, .33360784}));
  EXPECT_TRUE(is_golden(out.also.at("penalty"), {1.00862554}));
}

// One real feature: A = (1, 1)^T, A A^T - I = [[0, 1], [1, 0]]. Its squared Frobenius norm is 2; with the root that a
// widely used port takes it would be 1.41.
TEST(SelfAttentive, PenalizesByTheSquaredNorm) {
  const auto out = structured()->forward({.features = {one_row({1, 2}, 2)}});
  EXPECT_TRUE(close(out.also.at("penalty"), numbers({2}, {1}), 1e-12));
}

TEST(SelfAttentive, PenalizesNothingWhereNothingIsReal) {
  auto rows = at::zeros({2, 3, 2}, kDouble);
  rows[1] = one_row(kF1, 2).rows[0];
  const auto keep = at::tensor({0, 0, 0, 1, 1, 1}).view({2, 3}).to(at::kBool);
  const auto out = structured()->forward({.features = {{rows, keep}}});
  EXPECT_TRUE(is_golden(out.also.at("penalty"), {0, 1.00862554}));
  EXPECT_EQ(largest(out.context[0]), 0);
}

TEST(SelfAttentive, PenalizesWithAllWeightsHoweverFewAreRequested) {
  StructureInput given{.features = {one_row(kF1, 2)}};
  given.call.outputs.weights = true;
  given.call.outputs.rows = {1};
  EXPECT_TRUE(is_golden(structured()->forward(given).also.at("penalty"), {1.00862554}));
}

TEST(SelfAttentive, PenalizesEveryChannelAlike) {
  const auto one = structured()->forward({.features = {one_row(kF1, 2)}}).also.at("penalty");
  auto many =
      in_double("self_attentive(structured, queries=2)", {.features = {2}, .mechanism = "additive + softmax, multi"});
  set(*many, "attend.score.from_keys", kW2);
  set(*many, "attend.score.query", {.7, -.5, .7, -.5, -.3, .9, -.3, .9});  // [r, W, Dh], the same for both channels
  EXPECT_TRUE(close(many->forward({.features = {one_row(kF1, 2)}}).also.at("penalty"), one, 1e-12));
}

TEST(SelfAttentive, KeepsTheFormOfTheScoreItIsGiven) {
  const auto dot = in_double("self_attentive(structured, queries=3)",
                             {.features = {2}, .mechanism = "self_attentive(dot) + sparsemax"});
  EXPECT_EQ(dot->named_parameters()["attend.score.query"].sizes(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(dot->named_parameters().size(), 1);
}

TEST(SelfAttentive, LeavesProjectionsToSeveralHeads) {
  const auto made = structure("self_attentive(features)", {.features = {4}, .num_heads = 2});
  EXPECT_FALSE(made->named_parameters().contains("to_query"));
  EXPECT_TRUE(made->named_parameters().contains("attend.heads.query"));
}

TEST(SelfAttentive, RefusesWhatHasNoMeaning) {
  EXPECT_THROW(structure("self_attentive(norm)", {.features = {2}}), Error);
  EXPECT_THROW(structure("self_attentive(features, queries=2)", {.features = {2}}), Error);
  EXPECT_THROW(structure("self_attentive(structured, queries=0)", {.features = {2}}), Error);
  StructureInput causal{.features = {one_row(kF1, 2)}};
  causal.call.mask.causal = Causal::top_left;
  EXPECT_THROW(in_double("self_attentive", {.features = {2}})->forward(causal), Error);
}

}  // namespace
}  // namespace heed::testing
