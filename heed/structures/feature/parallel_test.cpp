// Parallel co-attention.

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

const std::vector<double> kBetween{.3, -.2, .1, .4}, kScoreFirst{.6, -.3}, kScoreSecond{-.4, .8};

std::shared_ptr<Structure> golden_parallel(const std::string& spec = "parallel") {
  auto made = in_double(spec, {.features = {2}});
  set(*made, "between", kBetween);
  set(*made, "from_first", kW1);
  set(*made, "from_second", kW2);
  set(*made, "first.score.query", kScoreFirst);
  set(*made, "second.score.query", kScoreSecond);
  return made;
}

TEST(Parallel, GivesTheGoldenNumbers) {
  const auto out = golden_parallel()->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}, .call = with_scores()});
  EXPECT_TRUE(is_golden(scores_of(out.step("first")), {.37703623, -.21198185, .16702443}));
  EXPECT_TRUE(is_golden(scores_of(out.step("second")), {-.66823557, .00420168}));
  EXPECT_TRUE(is_golden(out.context, {.76542617, .57724684, .83102434, -.00692697}));
  EXPECT_TRUE(is_golden(out.step("first").weights, {.42275316, .23457383, .34267301}));
  EXPECT_TRUE(is_golden(out.step("second").weights, {.33795131, .66204869}));
}

TEST(Parallel, ReturnsTheAffinityWhereWeightsAreRequested) {
  const StructureInput in{.features = {one_row(kF1, 2), one_row(kF2, 2)}, .call = {.outputs = {.weights = true}}};
  const auto out = golden_parallel()->forward(in);
  EXPECT_TRUE(is_golden(out.also.at("affinity"), {.33637554, .19737532, -.33637554, .29131261, 0, .46211716}));
  EXPECT_TRUE(golden_parallel()->forward({.features = in.features}).also.empty());
}

TEST(Parallel, SumsAsInThePaper) {
  const auto sum = golden_parallel("parallel(sum)");
  EXPECT_EQ(sum->width(), 2);
  const auto out = sum->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}});
  EXPECT_TRUE(is_golden(out.context, {.76542617 + .83102434, .57724684 - .00692697}));
  EXPECT_THROW(structure("parallel(sum)", {.features = {2, 3}}), Error);
}

TEST(Parallel, GetsNoMessageFromPadding) {
  Features second = one_row({9, 9, .5, -1, 1, .5, NAN, NAN}, 2);
  second.keep = at::tensor({0, 1, 1, 0}).to(at::kBool).view({1, 4});
  const auto out = golden_parallel()->forward({.features = {one_row(kF1, 2), second}});
  EXPECT_TRUE(is_golden(out.context, {.76542617, .57724684, .83102434, -.00692697}));
}

/// sum_i softmax(w . tanh(W f_i)) f_i: the context of an input that gets no messages.
Tensor alone(const std::vector<double>& features, const std::vector<double>& from, const std::vector<double>& score) {
  const auto f = numbers(features, {-1, 2});
  const auto e = at::tanh(f.matmul(numbers(from, {2, 2}).t())).matmul(numbers(score, {2}));
  return at::softmax(e, 0).matmul(f);
}

TEST(Parallel, ReadsAnInputWithoutMessagesWhereTheOtherIsEmpty) {
  const auto made = golden_parallel();
  const auto nothing = at::zeros({2}, kDouble);
  const auto first = made->forward({.features = {one_row(kF1, 2), kNone}}).context.flatten();
  EXPECT_TRUE(close(first, at::cat({alone(kF1, kW1, kScoreFirst), nothing})));
  const auto second = made->forward({.features = {kNone, one_row(kF2, 2)}}).context.flatten();
  EXPECT_TRUE(close(second, at::cat({nothing, alone(kF2, kW2, kScoreSecond)})));
}

TEST(Parallel, TakesInputsOfDifferentWidths) {
  at::manual_seed(3);
  auto made = in_double("parallel", {.features = {3, 2}, .hidden_dim = 4});
  const auto k1 = at::randn({5, 3}, kDouble), k2 = at::randn({6, 2}, kDouble);
  const auto out = made->forward({.features = {{k1.unsqueeze(0)}, {k2.unsqueeze(0)}}});

  const auto p = made->named_parameters();
  const auto affinity = at::tanh(k1.matmul(p["between"]).matmul(k2.t()));                      // [5, 6]
  const auto says1 = k1.matmul(p["from_first"].t()), says2 = k2.matmul(p["from_second"].t());  // [5, 4], [6, 4]
  const auto e1 = at::tanh(says1 + affinity.matmul(says2)).matmul(p["first.score.query"][0]);
  const auto e2 = at::tanh(says2 + affinity.t().matmul(says1)).matmul(p["second.score.query"][0]);
  const auto c1 = at::softmax(e1, 0).matmul(k1), c2 = at::softmax(e2, 0).matmul(k2);
  EXPECT_TRUE(close(out.context.flatten(), at::cat({c1, c2})));
}

}  // namespace
}  // namespace heed::testing
