// The penalty of Xu et al. (2015): two targets, one with the weights of dot, one with those of additive.

#include "heed/structures/decode/doubly_stochastic.h"

#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

Tensor two_targets() {
  const auto numbers = [](const std::vector<double>& x, const std::vector<int64_t>& shape) {
    return at::tensor(x, kDouble).view(shape);
  };
  const auto query = numbers({1, .5}, {1, 1, 2}), keys = numbers({1, 0, 0, 1, 1, 1}, {1, 3, 2}),
             values = numbers({1, 2, 3, -1, 0, 4}, {1, 3, 2});
  const Parameters additive{{"score.from_query", numbers({.5, -.2, .1, .3}, {2, 2})},
                            {"score.from_keys", numbers({.4, .1, -.3, .6}, {2, 2})},
                            {"score.bias", numbers({.05, -.1}, {2})},
                            {"score.to_scores", numbers({.7, -.5}, {1, 2})}};
  Call call;
  call.outputs.weights = true;
  return at::cat({attend(query, keys, values, Mechanism::parse("dot + softmax"), {}, call).weights,
                  attend(query, keys, values, Mechanism::parse("additive + softmax"), additive, call).weights},
                 1);  // [1, 2, 3]
}

TEST(DoublyStochastic, IsTheGoldenNumber) {
  const auto weights = two_targets();
  EXPECT_NEAR(doubly_stochastic_penalty(weights).item<double>(), 0.41876475, 1e-7);
  EXPECT_NEAR(doubly_stochastic_penalty(weights.sum(1)).item<double>(), 0.41876475, 1e-7);
}

TEST(DoublyStochastic, CountsRealKeysAlone) {
  const auto weights = at::constant_pad_nd(two_targets(), {0, 2});
  const auto keep = at::tensor(std::vector<int64_t>{1, 1, 1, 0, 0}).view({1, 5}).to(at::kBool);
  EXPECT_NEAR(doubly_stochastic_penalty(weights, keep).item<double>(), 0.41876475, 1e-7);
  EXPECT_NEAR(doubly_stochastic_penalty(weights).item<double>(), 2.41876475, 1e-7);
  EXPECT_EQ(doubly_stochastic_penalty(weights, at::zeros({1, 5}, at::kBool)).item<double>(), 0);
}

TEST(DoublyStochastic, KeepsBatchElementsApartAndLearns) {
  const auto weights = at::rand({2, 3, 4}, kDouble).requires_grad_();
  const auto penalty = doubly_stochastic_penalty(weights);
  EXPECT_EQ(penalty.sizes(), at::IntArrayRef({2}));
  const auto grad = gradients(penalty[0], {weights})[0];
  EXPECT_EQ(largest(grad[1]), 0);
  EXPECT_TRUE(close(grad[0], (-2 * (1 - weights[0].sum(0))).expand({3, 4}), 1e-12));
}

TEST(DoublyStochastic, RefusesOtherShapes) {
  EXPECT_THROW(doubly_stochastic_penalty(at::zeros({3})), Error);
  EXPECT_THROW(doubly_stochastic_penalty(at::zeros({2, 2, 3, 4})), Error);
  EXPECT_THROW(doubly_stochastic_penalty(at::zeros({2, 3}), at::ones({2, 4}, at::kBool)), Error);
}

}  // namespace
}  // namespace heed::testing
