// The cosine score, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// q = (3, 4), |q| = 5. The key (4, 3): 24 / 25. Its tenfold has the same score, (0, -2): -8 / 10, (-8, 6): 0.
TEST(CosineScore, DoesNotDependOnLengths) {
  expect_scores("cosine", {{3, 4}}, {{4, 3}, {40, 30}, {0, -2}, {-8, 6}}, {0.96, 0.96, -0.8, 0});
}

// The sharpness multiplies: 5 * 0.8 = 4; learned, exp(ln 2) * 0.8 = 1.6.
TEST(CosineScore, HasASharpness) {
  expect_scores("cosine(5)", {{3, 4}}, {{0, 1}}, {4});
  expect_scores("cosine(5, learned)", {{3, 4}}, {{0, 1}}, {1.6}, {{"score.log_sharpness", numbers({std::log(2)})}});
  EXPECT_THROW(Mechanism::parse("cosine(-1) + softmax"), Error);
}

// Each group of features has a length of its own: (3, 4) with (0, 7): 0.8; (1, 0) with (-2, 0): -1.
TEST(CosineScore, IsTheCosineOfEachGroup) {
  expect_scores("cosine", {{3, 4, 1, 0}}, {{0, 7, -2, 0}}, {0.8, -1}, {}, "multi(lift)");
}

// A key of 0 has the score 0 and no gradient: that of the formula would be infinite.
TEST(CosineScore, HasNoGradientAtZero) {
  expect_scores("cosine", {{3, 4}}, {{0, 0}, {3, 4}}, {0, 1});
  for (const Path path : {Path::composed, Path::fused}) {
    Call call;
    call.path = path;
    const auto keys = sequence({{0, 0}, {3, 4}}).requires_grad_();
    const auto attended =
        attend(sequence({{3, 4}}), keys, sequence({{1}, {2}}), Mechanism::parse("cosine + identity"), {}, call);
    EXPECT_TRUE(close(gradients(attended.context.sum(), {keys})[0], at::zeros_like(keys), 1e-12)) << to_string(path);
  }
}

}  // namespace
}  // namespace heed::testing
