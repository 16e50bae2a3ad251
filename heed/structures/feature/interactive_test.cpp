// Interactive co-attention.

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

std::shared_ptr<Structure> golden_interactive() {
  auto made = in_double("interactive", {.features = {2}});
  for (const std::string side : {"first", "second"}) {
    set(*made, side + ".score.from_query", kGeneral);
    set(*made, side + ".score.bias", {.3});
  }
  return made;
}

TEST(Interactive, GivesTheGoldenNumbers) {
  const Features first = one_row(kF1, 2), second = one_row(kF2, 2);
  EXPECT_TRUE(is_golden(mean(first), {.66666667, .66666667}));
  EXPECT_TRUE(is_golden(mean(second), {.75, -.25}));
  const auto out = golden_interactive()->forward({.features = {first, second}, .call = with_scores()});
  EXPECT_TRUE(is_golden(scores_of(out.step("first")), {.64982746, .31402093, .66403677}));
  EXPECT_TRUE(is_golden(scores_of(out.step("second")), {0, .69967659}));
  EXPECT_TRUE(is_golden(out.context, {.73809363, .63357509, .83405803, .00217410}));
}

TEST(Interactive, AsksWithTheMeanOfWhatIsReal) {
  Features first = one_row({1, 0, 7, 7, 0, 1, 1, 1, NAN, NAN}, 2);
  first.keep = at::tensor({1, 0, 1, 1, 0}).to(at::kBool).view({1, 5});
  const auto out = golden_interactive()->forward({.features = {first, one_row(kF2, 2)}});
  EXPECT_TRUE(is_golden(out.context, {.73809363, .63357509, .83405803, .00217410}));
}

// The survey's text says additive. The paper's score has a matrix and a scalar bias for each input.
TEST(Interactive, HasTheScoreOfThePaper) {
  const auto names = structure("interactive", {.features = {3, 2}})->named_parameters();
  EXPECT_EQ(names.size(), 4);
  EXPECT_EQ(names["first.score.from_query"].sizes(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(names["second.score.from_query"].sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(names["first.score.bias"].sizes(), (std::vector<int64_t>{1}));
}

// A zero query gives all features the same score, so the context is their mean.
TEST(Interactive, GivesTheMeanOfOneInputWhereTheOtherIsEmpty) {
  const auto made = golden_interactive();
  EXPECT_TRUE(is_golden(made->forward({.features = {one_row(kF1, 2), kNone}}).context, {2. / 3, 2. / 3, 0, 0}));
  EXPECT_TRUE(is_golden(made->forward({.features = {kNone, one_row(kF2, 2)}}).context, {0, 0, .75, -.25}));
}

TEST(Interactive, GivesASingleFeatureAllTheWeight) {
  const auto out = golden_interactive()->forward({.features = {one_row({5, -6}, 2), one_row(kF2, 2)}});
  EXPECT_TRUE(is_golden(out.step("first").context, {5, -6}));
}

TEST(Interactive, TakesInputsOfDifferentWidths) {
  auto made = in_double("interactive", {.features = {3, 2}});
  const auto out = made->forward({.features = {{at::randn({2, 4, 3}, kDouble)}, {at::randn({2, 5, 2}, kDouble)}}});
  EXPECT_EQ(out.context.sizes(), (std::vector<int64_t>{2, 1, 5}));
}

}  // namespace
}  // namespace heed::testing
