// The top-k alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// exp 6, 3, 1: softmax 0.6, 0.3, 0.1. The two largest; renorm: 6/9, 3/9. A k beyond the keys, as the default 8:
// softmax.
TEST(TopKAlignment, KeepsTheLargestWeights) {
  const std::vector<double> scores{0, std::log(6), std::log(3)};
  expect_weights("top_k(2)", scores, {0, 0.6, 0.3});
  expect_weights("top_k(2, renorm)", scores, {0, 2.0 / 3, 1.0 / 3});
  expect_weights("top_k(1, renorm)", scores, {0, 1, 0});
  expect_weights("top_k", scores, {0.1, 0.6, 0.3});
}

// Of equal scores the first ones stay: exactly k, never more.
TEST(TopKAlignment, TakesTheFirstOfEqualScores) {
  expect_weights("top_k(1)", {2, 2, 2, 2}, {0.25, 0, 0, 0});
  expect_weights("top_k(2, renorm)", {2, 2, 2, 2}, {0.5, 0.5, 0, 0});
  expect_weights("top_k(2, renorm)", {2, 5, 5, 5}, {0, 0.5, 0.5, 0});
}

// As threshold: dropped keys are in the normalizer, 0.6 (1 - 0.6), -0.3 * 0.6, -0.1 * 0.6, unless renorm.
TEST(TopKAlignment, HasAGradientThroughTheNormalizer) {
  const std::vector<double> scores{std::log(6), std::log(3), 0};
  expect_gradient("top_k(2)", scores, {1, 0, 0}, {0.24, -0.18, -0.06});
  expect_gradient("top_k(2, renorm)", scores, {1, 0, 0}, {2.0 / 9, -2.0 / 9, 0});
}

// Fewer kept keys than k: all of them.
TEST(TopKAlignment, IsOverTheKeptKeys) {
  expect_weights("top_k(2)", {0, 9, std::log(3)}, {0.25, 0, 0.75}, keeping({1, 0, 1}));
  expect_weights("top_k(2)", {0, 9}, {0, 0}, keeping({0, 0}));
  EXPECT_THROW(Mechanism::parse("dot + top_k(0)"), Error);
}

}  // namespace
}  // namespace heed::testing
