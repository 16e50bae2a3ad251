// Multi-grained co-attention.

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

std::shared_ptr<Structure> golden_multi_grained() {
  auto made = in_double("multi_grained", {.features = {2}});
  set(*made, "affinity", {.2, -.1, .3, .4, .5, -.6});
  set(*made, "coarse_first.score.from_query", kGeneral);
  set(*made, "coarse_second.score.from_query", kGeneral);
  return made;
}

TEST(MultiGrained, GivesTheGoldenNumbers) {
  const auto out = golden_multi_grained()->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}});
  EXPECT_TRUE(is_golden(out.context, {.76055511, .62447567, .81199342, .51386956,  //
                                      .81122967, -.06631100, .85202581, .05607744}));
  EXPECT_TRUE(is_golden(out.step("coarse_second").context, {.85202581, .05607744}));
  EXPECT_TRUE(is_golden(out.step("fine_second").context, {.81122967, -.06631100}));
}

// Coarse: a zero query gives all features the same score. Fine: there is no best match on either side.
TEST(MultiGrained, GivesTheMeanOfOneInputWhereTheOtherIsEmpty) {
  const auto made = golden_multi_grained();
  const double third = 2. / 3;
  const auto first = made->forward({.features = {one_row(kF1, 2), kNone}}).context;
  EXPECT_TRUE(is_golden(first, {third, third, 0, 0, 0, 0, 0, 0}));
  const auto second = made->forward({.features = {kNone, one_row(kF2, 2)}}).context;
  EXPECT_TRUE(is_golden(second, {0, 0, 0, 0, 0, 0, .75, -.25}));
}

TEST(MultiGrained, PutsTheAlignmentIntoBothGrains) {
  auto made = in_double("multi_grained", {.features = {2}, .mechanism = "sparsemax"});
  const StructureInput in{.features = {one_row(kF1, 2), one_row(kF2, 2)}, .call = {.outputs = {.weights = true}}};
  set(*made, "affinity", {.2, -.1, .3, .4, .5, -.6});
  set(*made, "coarse_first.score.from_query", {2, 0, 0, 2});  // k . 2 mean(F2) = (1.5, -.5, 1)
  const auto out = made->forward(in);
  EXPECT_TRUE(is_golden(out.step("coarse_first").weights, {.75, 0, .25}));
  EXPECT_TRUE(is_golden(out.step("fine_first").weights, {.7, 0, .3}));
}

TEST(MultiGrained, RequiresInputsOfOneWidth) {
  EXPECT_THROW(structure("multi_grained", {.features = {2, 3}}), Error);
}

}  // namespace
}  // namespace heed::testing
