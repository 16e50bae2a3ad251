// Alternating co-attention.

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

std::shared_ptr<Structure> golden_alternating(const std::string& spec) {
  auto made = in_double(spec, {.features = {2}});
  if (made->named_parameters().contains("ask.score.bias")) {
    set(*made, "ask.score.from_keys", kW2);
    set(*made, "ask.score.bias", kB);
    set(*made, "ask.score.query", kW);
  }
  set_additive(*made, "second");
  set_additive(*made, "first");
  return made;
}

TEST(Alternating, GivesTheGoldenNumbers) {
  const StructureInput in{.features = {one_row(kF1, 2), one_row(kF2, 2)}, .call = with_scores()};
  const auto out = golden_alternating("alternating")->forward(in);
  EXPECT_TRUE(is_golden(scores_of(out.step("ask")), {.48530378, -.12683906, .25167649}));
  EXPECT_TRUE(is_golden(out.step("ask").context, {.76768470, .57152246}));
  EXPECT_TRUE(is_golden(scores_of(out.step("second")), {.54673436, .37908789}));
  EXPECT_TRUE(is_golden(out.step("second").context, {.72909313, -.31272060}));
  EXPECT_TRUE(is_golden(scores_of(out.step("first")), {.69231826, .14162485, .43766130}));
  EXPECT_TRUE(is_golden(out.step("first").context, {.75484034, .57478153}));
  EXPECT_TRUE(is_golden(out.context, {.75484034, .57478153, .72909313, -.31272060}));
}

TEST(Alternating, AsksWithTheThirdStepWhenTied) {
  const auto tied = golden_alternating("alternating(tied)");
  EXPECT_EQ(tied->named_parameters().size(), 8);  // two additive sets, and none for the first step
  const auto out = tied->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}});
  EXPECT_TRUE(is_golden(out.step("first").context, {.76768470, .57152246}));
  EXPECT_TRUE(is_golden(out.step("first.2").context, {.75484034, .57478153}));
  EXPECT_TRUE(is_golden(out.context, {.75484034, .57478153, .72909313, -.31272060}));
}

TEST(Alternating, SumsAsInThePaper) {
  const auto sum = golden_alternating("alternating(join=sum)");
  EXPECT_EQ(sum->width(), 2);
  const auto out = sum->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}});
  EXPECT_TRUE(is_golden(out.context, {.75484034 + .72909313, .57478153 - .31272060}));
  EXPECT_THROW(structure("alternating(sum)", {.features = {2, 3}}), Error);
}

// If F2 is empty the second context is 0, and step 3 has a zero query, as step 1 does.
TEST(Alternating, ReadsTheFirstInputAloneWhereTheSecondIsEmpty) {
  const auto out = golden_alternating("alternating")->forward({.features = {one_row(kF1, 2), kNone}});
  EXPECT_TRUE(is_golden(out.context, {.76768470, .57152246, 0, 0}));
}

// s2 = (.74044987, -.27865040) is F2 under w . tanh(W2 k + b), from the golden numbers of the hierarchical structure.
TEST(Alternating, ReadsTheSecondInputAloneWhereTheFirstIsEmpty) {
  const auto out = golden_alternating("alternating")->forward({.features = {kNone, one_row(kF2, 2)}});
  EXPECT_TRUE(is_golden(out.context, {0, 0, .74044987, -.27865040}));
}

TEST(Alternating, TakesInputsOfDifferentWidths) {
  for (const char* spec : {"alternating", "alternating(tied)"}) {
    auto made = in_double(spec, {.features = {3, 2}});
    const auto out = made->forward({.features = {{at::randn({2, 4, 3}, kDouble)}, {at::randn({2, 5, 2}, kDouble)}}});
    EXPECT_EQ(out.context.sizes(), (std::vector<int64_t>{2, 1, 5}));
    EXPECT_EQ(out.step("second").context.size(-1), 2);
  }
}

}  // namespace
}  // namespace heed::testing
