// The concat score, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// W [q; k] = 2 q_1 + q_2 - k with q = (1, 3): 5 - k. Keys 5, 3, 7: 0, 2, -2. relu, w = 3: 0, 6, 0; identity: 0, 6, -6.
TEST(ConcatScore, HasOneMatrixForQueryAndKey) {
  const Parameters parameters{{"score.from_both", matrix({{2, 1, -1}})}, {"score.to_scores", matrix({{3}})}};
  expect_scores("concat(relu)", {{1, 3}}, {{5}, {3}, {7}}, {0, 6, 0}, parameters);
  expect_scores("concat(identity)", {{1, 3}}, {{5}, {3}, {7}}, {0, 6, -6}, parameters);
}

// W [q; k] = q + k = ln 2 and ln 3: tanh 3/5 and 4/5; w = 5: 3 and 4.
TEST(ConcatScore, IsActivatedByTanh) {
  expect_scores("concat", {{std::log(2)}}, {{0}, {std::log(1.5)}}, {3, 4},
                {{"score.from_both", matrix({{1, 1}})}, {"score.to_scores", matrix({{5}})}});
}

// multi, w = (1, -2): (2, -4). elementwise: two rows of W are the two scores, q + k = 2 and q - k = 0.
TEST(ConcatScore, HasOneNumberForEachChannel) {
  expect_scores("concat(relu)", {{1}}, {{1}}, {2, -4},
                {{"score.from_both", matrix({{1, 1}})}, {"score.to_scores", matrix({{1}, {-2}})}}, "multi");
  expect_scores("concat(identity)", {{1}}, {{1}}, {2, 0}, {{"score.from_both", matrix({{1, 1}, {1, -1}})}},
                "multi(elementwise)");
}

// It has no bias: query and keys of 0 have the score act(0) = 0.
TEST(ConcatScore, IsZeroForZeros) {
  expect_scores("concat", {{0}}, {{0}, {0}}, {0, 0},
                {{"score.from_both", matrix({{7, 9}})}, {"score.to_scores", matrix({{3}})}});
  EXPECT_THROW(Mechanism::parse("concat(bias=false) + softmax"), Error);
}

}  // namespace
}  // namespace heed::testing
