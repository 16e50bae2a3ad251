// The biased general score, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// W q + b = (2, 0) + (1, -1) = (3, -1): with the keys (1, 1), (0, 4): 2 and -4.
TEST(BiasedGeneralScore, AddsTheBiasToTheProjectedQuery) {
  expect_scores("biased_general", {{1, 2}}, {{1, 1}, {0, 4}}, {2, -4},
                {{"score.from_query", matrix({{0, 1}, {0, 0}})}, {"score.bias", numbers({1, -1})}});
}

// b . k does not depend on the query: with a query of 0 it is the score. b = (1, -1): 3 - 5 = -2.
TEST(BiasedGeneralScore, IsTheBiasForAQueryOfZero) {
  expect_scores("biased_general", {{0, 0}}, {{3, 5}}, {-2},
                {{"score.from_query", matrix({{7, 7}, {7, 7}})}, {"score.bias", numbers({1, -1})}});
}

// W = 2 and -3, b = 1 and 10: (2 * 5 + 1) * 2 = 22 and (-15 + 10) * 2 = -10.
TEST(BiasedGeneralScore, HasOneMatrixAndBiasForEachChannel) {
  expect_scores("biased_general", {{5}}, {{2}}, {22, -10},
                {{"score.from_query", numbers({2, -3}).view({2, 1, 1})}, {"score.bias", numbers({1, 10}).view({2, 1})}},
                "multi(lift)");
}

}  // namespace
}  // namespace heed::testing
