// The threshold alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// exp 6, 3, 1: softmax 0.6, 0.3, 0.1. At least 0.2 stay; renorm: 6/9, 3/9. The default theta, 0.01, leaves all three.
TEST(ThresholdAlignment, DropsTheTailOfSoftmax) {
  const std::vector<double> scores{std::log(6), std::log(3), 0};
  expect_weights("threshold(0.2)", scores, {0.6, 0.3, 0});
  expect_weights("threshold(0.2, renorm)", scores, {2.0 / 3, 1.0 / 3, 0});
  expect_weights("threshold(0.5)", scores, {0.6, 0, 0});
  expect_weights("threshold", scores, {0.6, 0.3, 0.1});
  expect_weights("threshold(0)", scores, {0.6, 0.3, 0.1});
}

// Three equal keys have 1/3 each, less than 1/2. The best, the first, stays, unless keep_best is false.
TEST(ThresholdAlignment, KeepsTheBestKeyBelowTheThreshold) {
  expect_weights("threshold(0.5)", {2, 2, 2}, {1.0 / 3, 0, 0});
  expect_weights("threshold(0.5, renorm)", {2, 2, 2}, {1, 0, 0});
  expect_weights("threshold(0.5, keep_best=false)", {2, 2, 2}, {0, 0, 0});
  expect_weights("threshold(0.5, renorm, keep_best=false)", {2, 2, 2}, {0, 0, 0});
}

// Values 1, 0, 0, softmax 0.6, 0.3, 0.1, context 0.6. The dropped third still is in the normalizer:
// 0.6 (1 - 0.6), -0.3 * 0.6, -0.1 * 0.6. renorm: softmax 2/3, 1/3 of the two that stay.
TEST(ThresholdAlignment, HasAGradientThroughTheNormalizer) {
  const std::vector<double> scores{std::log(6), std::log(3), 0};
  expect_gradient("threshold(0.2)", scores, {1, 0, 0}, {0.24, -0.18, -0.06});
  expect_gradient("threshold(0.2, renorm)", scores, {1, 0, 0}, {2.0 / 9, -2.0 / 9, 0});
}

// Without the masked key: 6/7 and 1/7.
TEST(ThresholdAlignment, IsOverTheKeptKeys) {
  expect_weights("threshold(0.2)", {std::log(6), std::log(3), 0}, {6.0 / 7, 0, 0}, keeping({1, 0, 1}));
  expect_weights("threshold(0.2)", {1, 2}, {0, 0}, keeping({0, 0}));
  for (const std::string spec : {"dot + threshold(1)", "dot + threshold(-0.1)"})
    EXPECT_THROW(Mechanism::parse(spec), Error) << spec;
}

}  // namespace
}  // namespace heed::testing
