// The dynamic co-attention encoder.

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

std::shared_ptr<Structure> with_sentinels(const std::vector<double>& document, const std::vector<double>& question) {
  auto made = in_double("dcn", {.features = {2}});
  set(*made, "document_sentinel", document);
  set(*made, "question_sentinel", question);
  return made;
}

TEST(Dcn, GivesTheGoldenNumbersWithoutSentinels) {
  const auto plain = in_double("dcn(sentinels=false)", {.features = {2}});
  EXPECT_EQ(plain->parameters().size(), 0);
  const auto out = plain->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}, .call = with_scores()});
  EXPECT_TRUE(is_golden(scores_of(out.step("to_question")), {.5, 1, -1, .5, -.5, 1.5}));  // L
  EXPECT_TRUE(is_golden(scores_of(out.step("to_document")), {.5, -1, -.5, 1, .5, 1.5}));  // its transpose
  EXPECT_TRUE(is_golden(out.step("to_document").context, {.85975562, .37146828, .81367628, .69280411}));
  EXPECT_TRUE(is_golden(out.context, {1, 0, .81122967, -.06631100, .83107310, .57148677,  //
                                      0, 1, .90878724, .22636171, .82208232, .63418426,   //
                                      1, 1, .94039854, .32119562, .81916907, .65449994}));
}

// A sentinel is an additional word of its input, whose output is dropped.
TEST(Dcn, TreatsSentinelsAsWords) {
  const auto made = with_sentinels({.3, -.7}, {-.2, .9});
  const auto out = made->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}});
  const auto words = in_double("dcn(sentinels=false)", {.features = {2}})
                         ->forward({.features = {one_row({1, 0, 0, 1, 1, 1, .3, -.7}, 2),  //
                                                 one_row({.5, -1, 1, .5, -.2, .9}, 2)}});
  EXPECT_EQ(out.context.sizes(), (std::vector<int64_t>{1, 3, 6}));
  EXPECT_TRUE(close(out.context, words.context.narrow(1, 0, 3)));
}

TEST(Dcn, LetsAWordAttendToNothingInParticular) {
  auto made = with_sentinels({0, 0}, {50, 50});
  const auto out =
      made->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}, .call = {.outputs = {.weights = true}}});
  EXPECT_TRUE(is_golden(out.step("to_question").weights, {1, 0, 0, 1, 0, 0, 1, 0, 0}));  // the sentinel comes first
}

// C^D = [s_q; C^Q of s_q], the only thing there is to attend to; without sentinels 0.
TEST(Dcn, AttendsToTheSentinelWhereThereIsNoQuestion) {
  const auto out = with_sentinels({.3, -.7}, {-.2, .9})->forward({.features = {one_row(kF1, 2), kNone}});
  const auto all = numbers({1, 0, 0, 1, 1, 1, .3, -.7}, {4, 2}), asks = numbers({-.2, .9}, {2});
  const auto read = at::cat({asks, at::softmax(all.matmul(asks), 0).matmul(all)});  // [4]
  EXPECT_TRUE(close(out.context[0], at::cat({numbers(kF1, {3, 2}), read.expand({3, 4})}, -1)));

  const auto plain = in_double("dcn(sentinels=false)", {.features = {2}});
  const auto none = plain->forward({.features = {one_row(kF1, 2), kNone}}).context[0];
  EXPECT_TRUE(same_bits(none, at::cat({numbers(kF1, {3, 2}), at::zeros({3, 4}, kDouble)}, -1)));
}

TEST(Dcn, GivesNothingAtPadding) {
  Features document = one_row({1, 0, NAN, NAN, 0, 1, 1, 1}, 2);
  document.keep = at::tensor({1, 0, 1, 1}).to(at::kBool).view({1, 4});
  const auto made = with_sentinels({.3, -.7}, {-.2, .9});
  const auto out = made->forward({.features = {document, one_row(kF2, 2)}});
  const auto whole = made->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}});
  EXPECT_TRUE(same_bits(out.keep, document.keep));
  EXPECT_TRUE(same_bits(out.context[0][1], at::zeros({6}, kDouble)));
  EXPECT_TRUE(close(out.context[0].index_select(0, at::tensor({0, 2, 3})), whole.context[0]));
}

TEST(Dcn, TakesAnEmptyDocument) {
  const auto out = with_sentinels({.3, -.7}, {-.2, .9})->forward({.features = {kNone, one_row(kF2, 2)}});
  EXPECT_EQ(out.context.sizes(), (std::vector<int64_t>{1, 0, 6}));
}

TEST(Dcn, RequiresInputsOfOneWidth) {
  EXPECT_THROW(structure("dcn", {.features = {2, 3}}), Error);
}

}  // namespace
}  // namespace heed::testing
