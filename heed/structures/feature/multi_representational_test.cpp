#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

std::shared_ptr<Structure> golden(const std::string& spec) {
  auto made = in_double(spec, {.features = {2, 3}, .hidden_dim = 2});
  set(*made, "project_1", {.5, .1, -.2, .3});
  set(*made, "bias_1", {0, .1});
  set(*made, "project_2", {.3, -.1, .2, .4, .2, -.5});
  set(*made, "bias_2", {.05, 0});
  set(*made, "to_scores", {.8, -.3});
  set(*made, "score_bias", {.1});
  return made;
}
StructureInput one_token() {
  return {.features = {one_row({1, -.5}, 2), one_row({.2, .4, -.6}, 3)}};
}
Tensor flags(const std::vector<int64_t>& all) {
  return at::tensor(all).view({1, -1}).to(at::kBool);
}

TEST(MultiRepresentational, HasTheGoldenNumbers) {
  StructureInput given = one_token();
  given.call.outputs.weights = true;
  const auto out = golden("multi_representational")->forward(given);
  EXPECT_TRUE(is_golden(out.step("choose").weights, {.64862484, .35137516}));
  EXPECT_TRUE(is_golden(out.context, {.27431242, -.00052364}));
}

TEST(MultiRepresentational, LetsGatedEmbeddingsNotCompete) {
  const auto gated = golden("multi_representational(gated)");
  EXPECT_TRUE(is_golden(gated->forward(one_token()).context, {.25976634, .06337241}));
}

TEST(MultiRepresentational, RectifiesTheSumIfTold) {
  const auto made = golden("multi_representational(activation=relu)");
  EXPECT_TRUE(is_golden(made->forward(one_token()).context, {.27431242, 0}));
}

TEST(MultiRepresentational, TakesTheOtherWhereAnEmbeddingIsMissing) {
  StructureInput given{
      .features = {one_row({1, -.5, 1, -.5, 1, -.5}, 2), one_row({.2, .4, -.6, .2, .4, -.6, .2, .4, -.6}, 3)}};
  given.features[0].keep = flags({1, 0, 0});
  given.features[1].keep = flags({0, 1, 0});
  given.features[0].rows[0][1].fill_(NAN);
  const auto out = golden("multi_representational")->forward(given);
  EXPECT_TRUE(is_golden(out.context, {.45, -.25, -.05, .46, 0, 0}));
  EXPECT_TRUE(out.keep.equal(flags({1, 1, 0})));
}

TEST(MultiRepresentational, MasksOneInputWhereTheOtherIsWhole) {
  StructureInput given = one_token();
  given.features[0].keep = flags({0});
  EXPECT_TRUE(is_golden(golden("multi_representational")->forward(given).context, {-.05, .46}));
}

TEST(MultiRepresentational, ProjectsASingleEmbedding) {
  auto one = in_double("multi_representational(inputs=1)", {.features = {2}});
  set(*one, "project_1", {.5, .1, -.2, .3});
  set(*one, "bias_1", {0, .1});
  EXPECT_TRUE(is_golden(one->forward({.features = {one_row({1, -.5}, 2)}}).context, {.45, -.25}));
}

/// The weights at token 0, before and after a change of the embeddings of token 2.
std::pair<Tensor, Tensor> weights_at_first(const std::string& spec) {
  at::manual_seed(9);
  const auto made = in_double(spec, {.features = {3}});
  StructureInput given{.features = {{at::randn({1, 4, 3}, kDouble), {}}, {at::randn({1, 4, 3}, kDouble), {}}}};
  given.call.outputs.weights = true;
  const auto before = made->forward(given).step("choose").weights[0].clone();
  given.features[1].rows[0][2].add_(2);
  return {before, made->forward(given).step("choose").weights[0]};
}

TEST(MultiRepresentational, ChoosesByTheSentenceInCdmeOnly) {
  const auto [alone, still_alone] = weights_at_first("multi_representational(dme)");
  EXPECT_TRUE(same_bits(alone, still_alone));
  const auto [before, after] = weights_at_first("multi_representational(cdme)");
  EXPECT_FALSE(close(before, after, 1e-6));
}

TEST(MultiRepresentational, HasFourUnitsInCdme) {
  const auto made = structure("multi_representational(cdme)", {.features = {6}});
  EXPECT_EQ(made->named_parameters()["to_scores"].sizes(), (std::vector<int64_t>{1, 4}));
}

TEST(MultiRepresentational, CountsItsInputsByTheirWidths) {
  EXPECT_EQ(structure("multi_representational", {.features = {6, 4, 2}})->takes().features.size(), 3);
  EXPECT_EQ(structure("multi_representational", {.features = {6}})->takes().features.size(), 2);
  EXPECT_THROW(structure("multi_representational(inputs=2)", {.features = {6, 4, 2}}), Error);
  EXPECT_THROW(structure("multi_representational(inputs=0)", {.features = {6}}), Error);
}

}  // namespace
}  // namespace heed::testing
