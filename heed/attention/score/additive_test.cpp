// The additive score, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

const Tensor kOneByOne = at::ones({1, 1}, kDouble);

// tanh(ln 2) = (4 - 1) / (4 + 1) = 3/5 and tanh(ln 3) = (9 - 1) / (9 + 1) = 4/5; w = 5: scores 3 and 4.
TEST(AdditiveScore, IsReadFromTheHiddenLayer) {
  expect_scores("additive", {{0}}, {{std::log(2)}, {std::log(3)}}, {3, 4},
                {{"score.from_query", kOneByOne},
                 {"score.from_keys", kOneByOne},
                 {"score.bias", numbers({0})},
                 {"score.to_scores", matrix({{5}})}});
}

// Hidden layer of two: x = (q_1 + k, q_2 - k) + b. q = (1, 2), b = (-1, 1): k = 0: (0, 3); k = 3: (3, 0).
// relu changes neither; w = (2, 1): 0 + 3 = 3, 6 + 0 = 6. The bias is inside the activation: k = -2: (-2, 5) -> (0, 5),
// 5. Without it: (1, 2), (4, -1), (-1, 4): 2 + 2 = 4, 8 + 0 = 8, 0 + 4 = 4.
TEST(AdditiveScore, HasABiasInsideTheActivation) {
  Parameters parameters{{"score.from_query", matrix({{1, 0}, {0, 1}})},
                        {"score.from_keys", matrix({{1}, {-1}})},
                        {"score.to_scores", matrix({{2, 1}})}};
  expect_scores("additive(relu, bias=false)", {{1, 2}}, {{0}, {3}, {-2}}, {4, 8, 4}, parameters);
  parameters.set("score.bias", numbers({-1, 1}));
  expect_scores("additive(relu)", {{1, 2}}, {{0}, {3}, {-2}}, {3, 6, 5}, parameters);
}

// x = q + k = 2 and -1, relu: 2 and 0. multi, w = (1, -2): (2, -4) and (0, 0).
// elementwise, x = (2, -1) q + k, 5 act(x / 5) with identity: x itself: k = 0: (2, -1); k = 3: (5, 2).
TEST(AdditiveScore, HasOneNumberForEachChannel) {
  expect_scores(
      "additive(relu, bias=false)", {{1}}, {{1}, {-2}}, {2, -4, 0, 0},
      {{"score.from_query", kOneByOne}, {"score.from_keys", kOneByOne}, {"score.to_scores", matrix({{1}, {-2}})}},
      "multi");
  expect_scores("additive(identity, bias=false)", {{1}}, {{0}, {3}}, {2, -1, 5, 2},
                {{"score.from_query", matrix({{2}, {-1}})}, {"score.from_keys", matrix({{1}, {1}})}},
                "multi(elementwise)");
}

// elementwise is bounded by 5: 5 tanh(5 ln 2 / 5) = 5 * 3/5 = 3, 5 tanh(-1000 / 5) = -5.
TEST(AdditiveScore, IsBoundedByFiveWhereTheHiddenLayerIsTheScore) {
  expect_scores("additive(bias=false)", {{1}}, {{0}}, {3, -5},
                {{"score.from_query", matrix({{5 * std::log(2)}, {-1000}})}, {"score.from_keys", matrix({{1}, {1}})}},
                "multi(elementwise)");
}

// Saturated: a query of 400 and keys of -400 and 800 have x = 0 and 1200: tanh 0 and 1. exp(2 * 400) alone overflows.
TEST(AdditiveScore, DoesNotOverflowWhereItSaturates) {
  expect_scores("additive(bias=false)", {{400}}, {{-400}, {800}, {-800}}, {0, 1, -1},
                {{"score.from_query", kOneByOne}, {"score.from_keys", kOneByOne}, {"score.to_scores", kOneByOne}});
}

}  // namespace
}  // namespace heed::testing
