// The local-p alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// The query is 1. to_position 0: sigmoid(0) = 1/2, the position is half the number of keys; +-100: the last, the first.
Parameters toward(double to_position) {
  return {{"align.from_query", matrix({{1}})}, {"align.to_position", matrix({{to_position}})}};
}

// Four keys: p = 2. Window 1, sigma 1/2: g = exp(-2 (j - 2)^2) = e^-2, 1, e^-2 for keys 1, 2, 3; key 0 is outside.
// exp(e) = 1, 2, 1: softmax 1/4, 1/2, 1/4 times g. The weights sum to less than 1.
TEST(LocalPAlignment, MultipliesSoftmaxByAGaussian) {
  const double g = std::exp(-2);
  expect_weights("local_p(1)", {50, 0, std::log(2), 0}, {0, g / 4, 0.5, g / 4}, {}, toward(0));
}

// renorm: e - 2 (j - 2)^2 = 2 - 2, ln 2, 2 - 2: 1/4, 1/2, 1/4.
// score_gauss: e g = ln 2, ln 4, 0 for e = e^2 ln 2, ln 4, 0: 2/7, 4/7, 1/7.
TEST(LocalPAlignment, HasTwoFormsThatSumToOne) {
  expect_weights("local_p(1, renorm)", {50, 2, std::log(2), 2}, {0, 0.25, 0.5, 0.25}, {}, toward(0));
  expect_weights("local_p(1, score_gauss)", {50, std::exp(2) * std::log(2), std::log(4), 0},
                 {0, 2.0 / 7, 4.0 / 7, 1.0 / 7}, {}, toward(0));
}

// Three keys: p = 3/2 is not rounded in the Gaussian, exp(-(j - 3/2)^2 / 2) with sigma 1, but the window is around 1.
TEST(LocalPAlignment, CentersTheGaussianBetweenKeys) {
  const double far = std::exp(-9.0 / 8) / 3, near = std::exp(-1.0 / 8) / 3;
  expect_weights("local_p(2)", {0, 0, 0}, {far, near, near}, {}, toward(0));
}

// Window 0: the key at the position alone, without a Gaussian. At the end the position is S, the center S - 1.
TEST(LocalPAlignment, TakesOneKeyWithoutAWindow) {
  expect_weights("local_p(0)", {5, 0, 1, 2}, {0, 0, 1, 0}, {}, toward(0));
  expect_weights("local_p(0)", {5, 0, 1, 2}, {0, 0, 0, 1}, {}, toward(100));
  expect_weights("local_p(0)", {5, 0, 1, 2}, {1, 0, 0, 0}, {}, toward(-100));
}

// S is the true length: with two of four keys, p = 1. A masked key inside the window leaves the rest.
TEST(LocalPAlignment, CountsTheTrueLength) {
  Call two;
  two.mask.key_count = at::tensor(std::vector<int64_t>{2});
  expect_weights("local_p(0)", {5, 0, 1, 2}, {0, 1, 0, 0}, two, toward(0));
  expect_weights("local_p(1)", {0, 0, 0, 0}, {0, 0, 0.5, std::exp(-2) / 2}, keeping({1, 0, 1, 1}), toward(0));
  expect_weights("local_p(1)", {0, 0}, {0, 0}, keeping({0, 0}), toward(0));
  EXPECT_THROW(Mechanism::parse("dot + local_p(-1)"), Error);
}

}  // namespace
}  // namespace heed::testing
