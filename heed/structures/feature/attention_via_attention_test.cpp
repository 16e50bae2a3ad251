#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

TEST(AttentionViaAttention, HasTheGoldenNumbers) {
  auto made = in_double("attention_via_attention", {.features = {2}});
  set_additive(*made, "words");
  set_additive(*made, "characters", kW1Twice);
  const auto out =
      made->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}, .query = golden_query(), .call = with_scores()});
  EXPECT_TRUE(is_golden(out.step("words").context, {.72608300, -.32175100}));
  EXPECT_TRUE(is_golden(scores_of(out.step("characters")), {.68514413, .21602264, .41523479}));
  EXPECT_TRUE(is_golden(out.context, {.73815341, .58141487, .72608300, -.32175100}));  // characters first
}

TEST(AttentionViaAttention, TeachesWordsThroughTheQueryOfCharacters) {
  at::manual_seed(1);
  const auto made = in_double("attention_via_attention", {.features = {2}});
  auto spec = one_row(kF2, 2);
  spec.rows.requires_grad_();
  const auto out = made->forward({.features = {one_row(kF1, 2), spec}, .query = golden_query()});
  const auto grads = gradients(out.context.narrow(-1, 0, 2).sum(), {spec.rows});
  EXPECT_GT(largest(grads[0]), 0);
}

TEST(AttentionViaAttention, JoinsItsQueryForScoresThatCompareFeatureByFeature) {
  const auto dot =
      structure("attention_via_attention", {.features = {3, 5}, .query_dim = 5, .mechanism = "dot + softmax"});
  EXPECT_EQ(dot->named_parameters()["characters_join"].sizes(), (std::vector<int64_t>{3, 10}));
  EXPECT_EQ(dot->width(), 8);
}

TEST(AttentionViaAttention, LooksAtCharactersEvenWithoutWords) {
  const auto made = in_double("attention_via_attention", {.features = {2}});
  const Features nothing{at::full({1, 2, 2}, NAN, kDouble), at::zeros({1, 2}, at::kBool)};
  const auto out = made->forward({.features = {one_row(kF1, 2), nothing}, .query = golden_query()});
  EXPECT_GT(largest(out.context.narrow(-1, 0, 2)), 0);
  EXPECT_EQ(largest(out.context.narrow(-1, 2, 2)), 0);
}

}  // namespace
}  // namespace heed::testing
