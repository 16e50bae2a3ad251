// Co-attention by the best match.

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

std::shared_ptr<Structure> golden_trilinear() {
  auto made = in_double("trilinear", {.features = {2}});
  set(*made, "affinity", {.2, -.1, .3, .4, .5, -.6});
  return made;
}

TEST(Trilinear, GivesTheGoldenNumbers) {
  const auto out = golden_trilinear()->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}, .call = with_scores()});
  EXPECT_TRUE(is_golden(scores_of(out.step("first")), {1.2, .25, .8}));
  EXPECT_TRUE(is_golden(scores_of(out.step("second")), {.7, 1.2}));
  EXPECT_TRUE(is_golden(out.context, {.81199342, .51386956, .81122967, -.06631100}));
}

// max_j A = (1.2, .25, .8): sparsemax shares between 1.2 and .8, (.7, 0, .3); max_i A = (.7, 1.2): (.25, .75).
TEST(Trilinear, TakesAnotherAlignment) {
  auto made = in_double("trilinear", {.features = {2}, .mechanism = "sparsemax"});
  set(*made, "affinity", {.2, -.1, .3, .4, .5, -.6});
  const auto out = made->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}});
  EXPECT_TRUE(is_golden(out.context, {1, .3, .875, .125}));
  EXPECT_THROW(structure("trilinear", {.features = {2}, .mechanism = "dot + sparsemax"}), Error);
}

TEST(Trilinear, GivesNothingWhereEitherInputIsEmpty) {
  const auto made = golden_trilinear();
  EXPECT_EQ(largest(made->forward({.features = {one_row(kF1, 2), kNone}}).context), 0);
  EXPECT_EQ(largest(made->forward({.features = {kNone, one_row(kF2, 2)}}).context), 0);
}

TEST(Trilinear, RequiresInputsOfOneWidth) {
  EXPECT_THROW(structure("trilinear", {.features = {2, 3}}), Error);
}

}  // namespace
}  // namespace heed::testing
