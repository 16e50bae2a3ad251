// The activated general score, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// k . (W q) + b = ln 2 k: tanh(ln 2) = 3/5; for k = 0 and b = ln 3: tanh(ln 3) = 4/5.
TEST(ActivatedGeneralScore, IsTheTanhOfGeneral) {
  expect_scores("activated_general", {{1}}, {{1}, {-1}}, {0.6, -0.6},
                {{"score.from_query", matrix({{std::log(2)}})}, {"score.bias", numbers({0})}});
  expect_scores("activated_general", {{1}}, {{0}}, {0.8},
                {{"score.from_query", matrix({{5}})}, {"score.bias", numbers({std::log(3)})}});
}

// 2 q . k + b with b = -1: relu(2 * 3 - 1) = 5, relu(-2 - 1) = 0; identity: 5, -3. The bias is one number, inside.
TEST(ActivatedGeneralScore, HasItsBiasInsideTheActivation) {
  const Parameters parameters{{"score.from_query", matrix({{2}})}, {"score.bias", numbers({-1})}};
  expect_scores("activated_general(relu)", {{1}}, {{3}, {-1}}, {5, 0}, parameters);
  expect_scores("activated_general(identity)", {{1}}, {{3}, {-1}}, {5, -3}, parameters);
}

// sigmoid(ln 3) = 3/4, sigmoid(-ln 3) = 1/4.
TEST(ActivatedGeneralScore, HasOneMatrixAndBiasForEachChannel) {
  expect_scores("activated_general(sigmoid)", {{1}}, {{1}}, {0.75, 0.25},
                {{"score.from_query", numbers({0, -2 * std::log(3)}).view({2, 1, 1})},
                 {"score.bias", numbers({std::log(3), std::log(3)})}},
                "multi(lift)");
}

// Bounded: no norm of a key gives more than 1.
TEST(ActivatedGeneralScore, IsBounded) {
  expect_scores("activated_general", {{1}}, {{1e6}, {-1e6}}, {1, -1},
                {{"score.from_query", matrix({{1}})}, {"score.bias", numbers({0})}});
}

}  // namespace
}  // namespace heed::testing
