// Affinities of two inputs, and the best match of each feature.

#include "heed/structures/feature/affinity.h"

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

const std::vector<double> kTrilinear{.2, -.1, .3, .4, .5, -.6};

Sides golden_sides() {
  return trilinear_sides(numbers(kTrilinear, {6}), one_row(kF1, 2), one_row(kF2, 2));
}

TEST(Affinity, IsTheTrilinearForm) {
  const Sides sides = golden_sides();
  EXPECT_TRUE(is_golden(at::matmul(sides.first.rows, sides.second.rows.transpose(1, 2)), {.2, 1.2, .25, .1, .7, .8}));
}

TEST(Affinity, ScoresAFeatureByItsBestMatch) {
  const Sides sides = golden_sides();
  EXPECT_TRUE(is_golden(best_matches(sides.first, sides.second, {}).rows, {1.2, .25, .8}));
  EXPECT_TRUE(is_golden(best_matches(sides.second, sides.first, {}).rows, {.7, 1.2}));
}

TEST(Affinity, TakesTheBestMatchAmongWhatIsReal) {
  Sides sides = golden_sides();
  sides.second.keep = at::tensor({1, 0}).to(at::kBool).view({1, 2});  // the first column of A alone
  const Features scores = best_matches(sides.first, sides.second, {});
  EXPECT_TRUE(is_golden(scores.rows, {.2, .25, .7}));
  EXPECT_TRUE(scores.keep.all().item<bool>());
}

// 1 . 2 = 1 . 2 > 1 . 1: the gradient with respect to the first 2 is 1; with respect to the feature it is the match, 2.
TEST(Affinity, GivesTheGradientOfAMaximumToTheFirstOfEqualMatches) {
  const Features of = one_row({1}, 1), among = one_row({1, 2, 2}, 1);
  of.rows.requires_grad_();
  among.rows.requires_grad_();
  best_matches(of, among, {}).rows.sum().backward();
  EXPECT_TRUE(same_bits(among.rows.grad().flatten(), at::tensor({0., 1., 0.}, kDouble)));
  EXPECT_EQ(of.rows.grad().item<double>(), 2);
}

TEST(Affinity, HasNoMaximumOverAnEmptyInput) {
  const Features of{at::ones({2, 3, 1}, kDouble)};
  EXPECT_FALSE(best_matches(of, {at::ones({2, 0, 1}, kDouble)}, {}).keep.any().item<bool>());
  const Features half{at::ones({2, 2, 1}, kDouble), at::tensor({0, 0, 0, 1}).to(at::kBool).view({2, 2})};
  const auto keep = best_matches(of, half, {}).keep;
  EXPECT_FALSE(keep[0].any().item<bool>());
  EXPECT_TRUE(keep[1].all().item<bool>());
}

TEST(Affinity, RequiresInputsOfOneWidth) {
  EXPECT_EQ(same_width("bidaf", 3, 3), 3);
  EXPECT_THROW(same_width("bidaf", 3, 4), Error);
}

}  // namespace
}  // namespace heed::testing
