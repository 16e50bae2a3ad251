#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

TEST(Singular, IsTheGeneralModule) {
  auto made = in_double("singular", {.features = {2}, .mechanism = "additive + softmax"});
  set_additive(*made, "attend");
  const auto out = made->forward({.features = {one_row(kF2, 2)}, .query = golden_query()});
  EXPECT_TRUE(is_golden(out.context, {.72608300, -.32175100}));
}

TEST(Singular, IsBasicUnderAnotherName) {
  const StructureInput given{.features = {one_row(kF1, 2)}, .query = golden_query()};
  const auto one = in_double("singular", {.features = {2}}), other = in_double("basic", {.features = {2}});
  EXPECT_TRUE(same_bits(one->forward(given).context, other->forward(given).context));
}

TEST(Singular, TakesScaledDotAndSoftmaxUnlessTold) {
  const StructureInput given{.features = {one_row(kF1, 2)}, .query = golden_query()};
  const auto context = in_double("singular", {.features = {2}})->forward(given).context;
  // weights of the golden scaled score, over F1 as its own values
  EXPECT_TRUE(is_golden(context, {.31986617 + .45552749, .22460634 + .45552749}));
}

TEST(Singular, LetsTheCallMask) {
  StructureInput given{.features = {one_row(kF1, 2)}, .query = numbers({1, .5, 1, .5}, {1, 2, 2})};
  given.call.mask.causal = Causal::top_left;
  const auto context = in_double("singular", {.features = {2}})->forward(given).context;
  EXPECT_TRUE(close(context[0][0], numbers({1, 0}, {2}), 1e-12));
  EXPECT_FALSE(close(context[0][1], numbers({1, 0}, {2}), 1e-3));
}

TEST(Singular, RefusesAQueryOfAnotherWidth) {
  const auto made = in_double("singular", {.features = {2}, .mechanism = "additive + softmax"});
  EXPECT_THROW(made->forward({.features = {one_row(kF1, 2)}, .query = numbers({1, 2, 3}, {1, 1, 3})}), Error);
  EXPECT_THROW(made->forward({.features = {one_row(kF1, 2)}}), Error);
}

}  // namespace
}  // namespace heed::testing
