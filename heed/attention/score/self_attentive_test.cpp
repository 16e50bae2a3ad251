// The self-attentive score, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// tanh(ln 2) = 3/5, tanh(ln 3) = 4/5; u = 5: 3 and 4. No query is passed.
TEST(SelfAttentiveScore, LearnsItsQuery) {
  expect_scores("self_attentive", {}, {{std::log(2)}, {std::log(3)}}, {3, 4},
                {{"score.from_keys", matrix({{1}})}, {"score.bias", numbers({0})}, {"score.query", matrix({{5}})}});
}

// relu(2 k + b) with b = -1, keys 1 and 0: 1 and 0. Queries 3 and -2: 3, 0 and -2, 0.
TEST(SelfAttentiveScore, HasAsManyQueriesAsItSays) {
  const Parameters parameters{
      {"score.from_keys", matrix({{2}})}, {"score.bias", numbers({-1})}, {"score.query", matrix({{3}, {-2}})}};
  expect_scores("self_attentive(queries=2, relu)", {}, {{1}, {0}}, {3, 0, -2, 0}, parameters);
  EXPECT_THROW(expect_scores("self_attentive(queries=2, relu)", {{1}, {1}, {1}}, {{1}}, {}, parameters), Error);
}

// Of a query that is passed only the number of rows is used: the learned one is repeated.
TEST(SelfAttentiveScore, DoesNotReadTheQueryThatIsPassed) {
  expect_scores("self_attentive(dot)", {{7}, {8}}, {{1, 2}, {4, 0}}, {1, 12, 1, 12},
                {{"score.query", matrix({{3, -1}})}});
}

// dot: u . k, u = (3, -1): (1, 2) -> 1, (4, 0) -> 12; by groups of one feature: (3, -2) and (12, 0).
TEST(SelfAttentiveScore, HasAFormWithoutAHiddenLayer) {
  const Parameters parameters{{"score.query", matrix({{3, -1}})}};
  expect_scores("self_attentive(dot)", {}, {{1, 2}, {4, 0}}, {1, 12}, parameters);
  expect_scores("self_attentive(dot)", {}, {{1, 2}, {4, 0}}, {3, -2, 12, 0}, parameters, "multi(lift)");
}

// multi: one query for each channel, 1 and -2: identity(k) = 3 gives 3 and -6.
TEST(SelfAttentiveScore, HasAQueryForEachChannel) {
  expect_scores("self_attentive(identity)", {}, {{3}}, {3, -6},
                {{"score.from_keys", matrix({{1}})},
                 {"score.bias", numbers({0})},
                 {"score.query", numbers({1, -2}).view({1, 2, 1})}},
                "multi");
}

}  // namespace
}  // namespace heed::testing
