// Rotatory attention.

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

/// The same W, and b = .3, in every slot.
std::shared_ptr<Structure> golden_rotatory(const std::string& spec) {
  auto made = in_double(spec, {.features = {2}});
  for (const auto& item : made->named_parameters())
    set(*made, item.key(), item.value().numel() == 1 ? std::vector<double>{.3} : kGeneral);
  return made;
}
const Features kLeft = one_row(kF1, 2), kTarget = one_row(kF2, 2), kRight = one_row({-1, .5, .2, .3}, 2);
const std::vector<double> kHop1{.73809363, .63357509, -.24094038, .37349006,
                                .83371792, .00115375, .76433839,  -.20698483};
const std::vector<double> kHop2{.72388687, .65315424, -.24114492, .37352415,
                                .83469447, .00408342, .76432664,  -.20702008};

TEST(Rotatory, GivesTheGoldenNumbers) {
  const StructureInput in{.features = {kLeft, kTarget, kRight}};
  EXPECT_TRUE(is_golden(golden_rotatory("rotatory")->forward(in).context, kHop1));
  EXPECT_TRUE(is_golden(golden_rotatory("rotatory(hops=2)")->forward(in).context, kHop2));
  EXPECT_TRUE(is_golden(golden_rotatory("rotatory(hops=2, tied)")->forward(in).context, kHop2));
}

TEST(Rotatory, HasFourSetsOfParametersForEachHopUnlessTied) {
  const auto count = [](const std::string& spec) { return structure(spec, {.features = {2}})->parameters().size(); };
  EXPECT_EQ(count("rotatory"), 4 * 2);
  EXPECT_EQ(count("rotatory(hops=3)"), 3 * 4 * 2);
  EXPECT_EQ(count("rotatory(hops=3, tied)"), 4 * 2);
  EXPECT_THROW(structure("rotatory(hops=0)", {.features = {2}}), Error);
}

TEST(Rotatory, NamesItsStepsByHop) {
  const StructureInput in{.features = {kLeft, kTarget, kRight}};
  const auto apart = golden_rotatory("rotatory(hops=2)")->forward(in);
  EXPECT_TRUE(is_golden(apart.step("left").context, {kHop1[0], kHop1[1]}));
  EXPECT_TRUE(is_golden(apart.step("left_2").context, {kHop2[0], kHop2[1]}));
  const auto tied = golden_rotatory("rotatory(hops=2, tied)")->forward(in);
  EXPECT_TRUE(is_golden(tied.step("right_target").context, {kHop1[6], kHop1[7]}));
  EXPECT_TRUE(is_golden(tied.step("right_target.2").context, {kHop2[6], kHop2[7]}));
}

// With the pooled target as the query of every hop, the parameters of the first hop would get no gradient.
TEST(Rotatory, LearnsInEveryHop) {
  const auto made = golden_rotatory("rotatory(hops=3)");
  const auto context = made->forward({.features = {kLeft, kTarget, kRight}}).context;
  (context * waves(context)).sum().backward();
  for (const auto& item : made->named_parameters()) EXPECT_GT(largest(item.value().grad()), 1e-9) << item.key();
}

// tanh(k . 0 + b) is the same for every word.
TEST(Rotatory, GivesTheMeanOfTheTargetWhereASideIsEmpty) {
  for (const char* spec : {"rotatory", "rotatory(hops=3)"}) {
    const auto made = golden_rotatory(spec);
    const auto no_left = made->forward({.features = {kNone, kTarget, kRight}}).context.flatten();
    EXPECT_TRUE(is_golden(no_left.narrow(0, 0, 2), {0, 0})) << spec;
    EXPECT_TRUE(is_golden(no_left.narrow(0, 4, 2), {.75, -.25})) << spec;
    const auto no_right = made->forward({.features = {kLeft, kTarget, kNone}}).context.flatten();
    EXPECT_TRUE(is_golden(no_right.narrow(0, 2, 2), {0, 0})) << spec;
    EXPECT_TRUE(is_golden(no_right.narrow(0, 6, 2), {.75, -.25})) << spec;
    const auto both = made->forward({.features = {kLeft, kTarget, kRight}}).context.flatten();
    EXPECT_TRUE(close(no_left.narrow(0, 2, 2), both.narrow(0, 2, 2))) << spec;  // the other side is unchanged
    EXPECT_TRUE(close(no_right.narrow(0, 0, 2), both.narrow(0, 0, 2))) << spec;
  }
}

TEST(Rotatory, GivesTheMeansOfTheSidesWhereTheTargetIsEmpty) {
  const auto out = golden_rotatory("rotatory(hops=2)")->forward({.features = {kLeft, kNone, kRight}});
  EXPECT_TRUE(is_golden(out.context, {2. / 3, 2. / 3, -.4, .4, 0, 0, 0, 0}));
}

TEST(Rotatory, RefusesTooManyHops) {
  try {
    structure("rotatory(hops=1000000)", {.features = {2}});
    FAIL() << "a million modules were made";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "structure/rotatory: hops is 1000000, expected 1 to 256");
  }
}

TEST(Rotatory, TakesInputsOfDifferentWidths) {
  for (const char* spec : {"rotatory(hops=2)", "rotatory(hops=2, tied)"}) {
    auto made = in_double(spec, {.features = {3, 2, 4}});
    const auto out = made->forward({.features = {{at::randn({2, 5, 3}, kDouble)},  //
                                                 {at::randn({2, 1, 2}, kDouble)},
                                                 {at::randn({2, 6, 4}, kDouble)}}});
    EXPECT_EQ(out.context.sizes(), (std::vector<int64_t>{2, 1, 3 + 4 + 2 + 2}));
  }
}

}  // namespace
}  // namespace heed::testing
