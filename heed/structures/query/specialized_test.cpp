#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

// The coarse half of the golden multi-grained numbers: general score, query mean(F2) over F1 and mean(F1) over F2.
TEST(Specialized, AsksWithTheMeanOfTheOtherInput) {
  auto made = in_double("specialized", {.features = {2}, .mechanism = "general + softmax"});
  set(*made, "attend.score.from_query", kGeneral);
  EXPECT_TRUE(
      is_golden(made->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}}).context, {.76055511, .62447567}));
  EXPECT_TRUE(
      is_golden(made->forward({.features = {one_row(kF2, 2), one_row(kF1, 2)}}).context, {.85202581, .05607744}));
}

TEST(Specialized, AsksWithWhatALearnedQueryFindsInTheOtherInput) {
  at::manual_seed(8);
  auto made = in_double("specialized(attention)", {.features = {3, 2}});
  const StructureInput given{.features = {{at::randn({2, 4, 3}, kDouble), {}}, {at::randn({2, 5, 2}, kDouble), {}}}};
  const auto out = made->forward(given);
  const auto& found = out.step("ask").context;  // [B, 1, 2]
  auto basic = in_double("basic", {.features = {3}, .query_dim = 2, .mechanism = "additive + softmax"});
  const at::NoGradGuard no_grad;
  for (auto& item : basic->named_parameters()) item.value().copy_(made->named_parameters()[item.key()]);
  EXPECT_TRUE(close(out.context, basic->forward({.features = {given.features[0]}, .query = found}).context, 1e-12));
}

TEST(Specialized, AsksWithZeroWhereTheOtherInputIsEmpty) {
  auto made = in_double("specialized", {.features = {2}, .mechanism = "general + softmax"});
  const Features nothing{at::full({1, 2, 2}, NAN, kDouble), at::zeros({1, 2}, at::kBool)};
  const auto out = made->forward({.features = {one_row(kF1, 2), nothing}});
  EXPECT_TRUE(close(out.context, numbers({2. / 3, 2. / 3}, {1, 1, 2}), 1e-12));  // all scores 0: the mean
}

TEST(Specialized, GivesZeroForEmptyFeatures) {
  for (const std::string spec : {"specialized", "specialized(attention)"}) {
    const Features nothing{at::full({1, 2, 2}, NAN, kDouble), at::zeros({1, 2}, at::kBool)};
    const auto out = in_double(spec, {.features = {2}})->forward({.features = {nothing, one_row(kF2, 2)}});
    EXPECT_EQ(largest(out.context), 0) << spec;
  }
}

}  // namespace
}  // namespace heed::testing
