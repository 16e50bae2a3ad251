// Bi-directional attention flow.

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

std::shared_ptr<Structure> golden_bidaf() {
  auto made = in_double("bidaf", {.features = {2}});
  set(*made, "affinity", {.2, -.1, .3, .4, .5, -.6});
  return made;
}

TEST(Bidaf, GivesTheGoldenNumbers) {
  const auto out = golden_bidaf()->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}, .call = with_scores()});
  EXPECT_TRUE(is_golden(scores_of(out.step("to_question")), {.2, 1.2, .25, .1, .7, .8}));  // A
  EXPECT_TRUE(is_golden(scores_of(out.step("to_document")), {1.2, .25, .8}));              // maximum of each row of A
  const auto h = numbers(kF1, {1, 3, 2});
  const auto asked = numbers({.86552929, .09658787, .73128508, -.30614477, .76248959, -.21253122}, {1, 3, 2});
  const auto wanted = numbers({.81199342, .51386956}, {2});
  EXPECT_TRUE(close(out.context, at::cat({h, asked, h * asked, h * wanted}, -1), 1e-7));
  EXPECT_FALSE(out.keep.defined());
}

TEST(Bidaf, GivesNothingAtPadding) {
  Features document = one_row({1, 0, 0, 1, NAN, NAN, 1, 1}, 2);
  document.keep = at::tensor({1, 1, 0, 1}).to(at::kBool).view({1, 4});
  const auto made = golden_bidaf();
  const auto out = made->forward({.features = {document, one_row(kF2, 2)}});
  const auto whole = made->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}});
  EXPECT_TRUE(same_bits(out.keep, document.keep));
  EXPECT_TRUE(same_bits(out.context[0][2], at::zeros({8}, kDouble)));
  EXPECT_TRUE(close(out.context[0].index_select(0, at::tensor({0, 1, 3})), whole.context[0]));
}

TEST(Bidaf, KeepsTheDocumentAloneWhereThereIsNoQuestion) {
  const auto out = golden_bidaf()->forward({.features = {one_row(kF1, 2), kNone}});
  EXPECT_TRUE(same_bits(out.context, at::cat({numbers(kF1, {1, 3, 2}), at::zeros({1, 3, 6}, kDouble)}, -1)));
}

TEST(Bidaf, TakesAnEmptyDocument) {
  const auto out = golden_bidaf()->forward({.features = {kNone, one_row(kF2, 2)}});
  EXPECT_EQ(out.context.sizes(), (std::vector<int64_t>{1, 0, 8}));
}

TEST(Bidaf, RequiresInputsOfOneWidth) {
  EXPECT_THROW(structure("bidaf", {.features = {2, 3}}), Error);
}

}  // namespace
}  // namespace heed::testing
