// The general score, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// W q = (1 * 1 + 2 * 2, 3 * 2, -1) = (5, 6, -1): with the keys (1, 0, 0), (0, 1, 2): 5 and 4. Dq = 2, Dk = 3.
TEST(GeneralScore, ComparesDifferentWidths) {
  expect_scores("general", {{1, 2}}, {{1, 0, 0}, {0, 1, 2}}, {5, 4},
                {{"score.from_query", matrix({{1, 2}, {0, 3}, {-1, 0}})}});
}

// The matrix acts on the query, not on the key: W = (0 1; 0 0), q = (1, 2): W q = (2, 0).
TEST(GeneralScore, HasTheMatrixAtTheQuery) {
  expect_scores("general", {{1, 2}}, {{3, 7}}, {6}, {{"score.from_query", matrix({{0, 1}, {0, 0}})}});
}

// One matrix for each channel, 2 and -3: 2 * 5 * 1 = 10, -15; for the key 0 both are 0.
TEST(GeneralScore, HasOneMatrixForEachChannel) {
  expect_scores("general", {{5}}, {{1}, {0}}, {10, -15, 0, 0}, {{"score.from_query", numbers({2, -3}).view({2, 1, 1})}},
                "multi(lift)");
}

}  // namespace
}  // namespace heed::testing
