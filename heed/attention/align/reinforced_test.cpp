// The reinforced alignment, with numbers to check in the head. Keys are the scores, k_j = e_j.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// The policy, without a hidden activation: logit_j = a k_j + b mean + c k_j mean + bias.
Parameters policy_of(double a, double b, double c, double bias) {
  return {{"align.from_keys", matrix({{a, b, c}})},
          {"align.bias", numbers({0})},
          {"align.to_logit", matrix({{1}})},
          {"align.logit_bias", numbers({bias})}};
}

// logit = k: keys above 0 are selected, exp 1 : 3 apart.
// logit = k - mean, keys 0, 3, 3, mean 2: the last two. logit = k mean, mean -1: the negative ones, -4 and -4.
TEST(ReinforcedAlignment, IsSoftmaxOverTheSelectedKeys) {
  expect_weights("reinforced(identity)", {1, -1, 1 + std::log(3)}, {0.25, 0, 0.75}, {}, policy_of(1, 0, 0, 0));
  expect_weights("reinforced(identity)", {0, 3, 3}, {0, 0.5, 0.5}, {}, policy_of(1, -1, 0, 0));
  expect_weights("reinforced(identity)", {5, -4, -4}, {0, 0.5, 0.5}, {}, policy_of(0, 0, 1, 0));
}

// The activation is that of the hidden layer: relu(-1) + 1/2 > 0 selects a key that identity leaves out.
TEST(ReinforcedAlignment, HasAHiddenLayer) {
  expect_weights("reinforced(identity)", {-1, 2}, {0, 1}, {}, policy_of(1, 0, 0, 0.5));
  expect_weights("reinforced(relu)", {-1, -1}, {0.5, 0.5}, {}, policy_of(1, 0, 0, 0.5));
}

// The mean is over the keys that may be attended, 0 and 4: 2. logit = k - mean: the last.
TEST(ReinforcedAlignment, ReadsTheKeysThatMayBeAttended) {
  expect_weights("reinforced(identity)", {0, 99, 4}, {0, 0, 1}, keeping({1, 0, 1}), policy_of(1, -1, 0, 0));
}

// Nothing is selected: weights of 0; with fallback softmax over all.
TEST(ReinforcedAlignment, MaySelectNothing) {
  expect_weights("reinforced(identity)", {0, std::log(3)}, {0, 0}, {}, policy_of(0, 0, 0, -9));
  expect_weights("reinforced(identity, fallback)", {0, std::log(3)}, {0.25, 0.75}, {}, policy_of(0, 0, 0, -9));
  expect_weights("reinforced(identity, fallback)", {0, 50, std::log(3)}, {0.25, 0, 0.75}, keeping({1, 0, 1}),
                 policy_of(0, 0, 0, -9));
}

// Keys ln 3 and -ln 3: pi = 3/4 and 1/4. The first is selected, the second is not: log p = 2 ln(3/4), half of the keys.
TEST(ReinforcedAlignment, HasTheLogProbabilityOfItsChoice) {
  const auto attended = attend(sequence({{1}}), sequence({{std::log(3)}, {-std::log(3)}}), sequence({{1}, {2}}),
                               Mechanism::parse("dot + reinforced(identity)"), policy_of(1, 0, 0, 0));
  EXPECT_NEAR(attended.log_probability.item<double>(), 2 * std::log(0.75), 1e-12);
  EXPECT_TRUE(close(attended.selected.flatten(), numbers({1, 0})));
  EXPECT_EQ(attended.selected_share.item<double>(), 0.5);
}

// Sampling: a key with pi = 1 is always in, one with pi = 0 never, whatever is drawn.
TEST(ReinforcedAlignment, DrawsItsSelection) {
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    Call call;
    call.noise.sample = true;
    call.noise.seed = seed;
    expect_weights("reinforced(identity)", {1, -1}, {1, 0}, call, policy_of(1e4, 0, 0, 0));
  }
}

}  // namespace
}  // namespace heed::testing
