// The location score, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// W q = (1 + 2, 2 - 1, 5 * 2) for q = (1, 2) and W = (1 1; 2 -1/2; 0 5): 3, 1, 10. Keys are not read.
TEST(LocationScore, DependsOnThePositionOfTheKey) {
  const Parameters parameters{{"score.from_query", matrix({{1, 1}, {2, -0.5}, {0, 5}})}};
  expect_scores("location(3)", {{1, 2}}, {{7}, {7}, {7}}, {3, 1, 10}, parameters);
  expect_scores("location(3)", {{1, 2}}, {{-1}, {0}, {4}}, {3, 1, 10}, parameters);
  expect_scores("location(3)", {{1, 2}}, {{7}, {7}}, {3, 1}, parameters);  // fewer keys than rows
}

// Two rows, three keys: the third cannot be scored and has weight 0. ln 3 and 0: softmax 3/4 and 1/4.
TEST(LocationScore, MasksKeysBeyondItsTable) {
  Call call;
  call.outputs.weights = true;
  const Parameters parameters{{"score.from_query", matrix({{std::log(3)}, {0}})}};
  for (const auto& [path, attended] :
       on_every_path(sequence({{1}}), sequence({{7}, {7}, {7}}), sequence({{4}, {8}, {100}}), "location(2) + softmax",
                     parameters, call)) {
    EXPECT_TRUE(close(attended.weights.flatten(), numbers({0.75, 0.25, 0}), 1e-12)) << path;
    EXPECT_NEAR(attended.context.item<double>(), 5, 1e-12) << path;  // 3 + 2
  }
}

// One matrix for each channel: (1, 2) and (-1, 3) for a query of 1.
TEST(LocationScore, HasOneMatrixForEachChannel) {
  expect_scores("location(2)", {{1}}, {{7}, {7}}, {1, -1, 2, 3},
                {{"score.from_query", numbers({1, 2, -1, 3}).view({2, 2, 1})}}, "multi(lift)");
  EXPECT_THROW(Mechanism::parse("location(0) + softmax"), Error);
}

}  // namespace
}  // namespace heed::testing
