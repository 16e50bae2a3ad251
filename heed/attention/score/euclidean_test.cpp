// The Euclidean score, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// q = (1, 2). The key (4, 6): 3^2 + 4^2 = 25, root 5. The key (1, 0): 4, root 2. Negated: the nearest has the highest.
TEST(EuclideanScore, IsMinusTheDistance) {
  expect_scores("euclidean", {{1, 2}}, {{4, 6}, {1, 0}}, {-25, -4});
  expect_scores("euclidean(root)", {{1, 2}}, {{4, 6}, {1, 0}}, {-5, -2});
}

// Two groups of two features: (3, 4) from (0, 0) and (1, 1) from (1, 0).
TEST(EuclideanScore, IsTheDistanceOfEachGroup) {
  expect_scores("euclidean", {{3, 4, 1, 1}}, {{0, 0, 1, 0}}, {-25, -1}, {}, "multi(lift)");
  expect_scores("euclidean(root)", {{3, 4, 1, 1}}, {{0, 0, 1, 0}}, {-5, -1}, {}, "multi(lift)");
}

// A key at the query has the score 0, and a gradient of 0 where that of a root would be infinite.
TEST(EuclideanScore, HasNoGradientAtTheQuery) {
  expect_scores("euclidean(root)", {{1, 2}}, {{1, 2}}, {0});
  for (const Path path : {Path::composed, Path::fused}) {
    Call call;
    call.path = path;
    const auto keys = sequence({{1, 2}, {1, 5}}).requires_grad_();
    const auto attended = attend(sequence({{1, 2}}), keys, sequence({{1}, {1}}),
                                 Mechanism::parse("euclidean(root) + identity"), {}, call);
    const auto expected = sequence({{0, 0}, {0, -1}});  // -(k - q) / |k - q|
    EXPECT_TRUE(close(gradients(attended.context.sum(), {keys})[0], expected, 1e-12)) << to_string(path);
  }
}

// Far from 0 and near each other: 2 q.k - |q|^2 - |k|^2 would lose all digits.
TEST(EuclideanScore, DoesNotCancel) {
  expect_scores("euclidean", {{1e9}}, {{1e9 + 2}, {1e9 - 3}}, {-4, -9});
}

}  // namespace
}  // namespace heed::testing
