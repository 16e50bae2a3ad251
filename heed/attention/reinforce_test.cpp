// REINFORCE against the exact gradient, by enumerating all samples.

#include "heed/attention/reinforce.h"

#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

const Tensor kReward = at::tensor({0.7, -1.1, 0.4}, at::kDouble);

/// One query over three keys, score k_j (general with W q = 1), values 1, 2, 3.
Case three_keys(const std::string& align) {
  Case c;
  c.mechanism = Mechanism::parse("dot + " + align);
  c.query = at::ones({1, 1, 1}, kDouble);
  c.keys = at::tensor({1.0, 0.5, 1.5}, at::kDouble).view({1, 3, 1}).requires_grad_();
  c.values = at::tensor({1.0, 2.0, 3.0}, at::kDouble).view({1, 3, 1});
  c.call.noise.sample = true;
  c.call.noise.seed = 5;
  c.call.outputs.entropy = true;
  return c;
}

// Gumbel-max with u = 0.99 at one key and 0.01 at the others samples that key. The mean of the estimator over all
// samples is the gradient of E[R], for any baseline.
TEST(Reinforce, HasTheMeanOfTheExactGradientForHard) {
  auto c = three_keys("hard");
  const auto p = at::softmax(c.keys.flatten(), 0);
  const auto exact = gradients((p * kReward).sum(), {c.keys})[0];
  Tensor mean = at::zeros_like(exact);
  for (int64_t m = 0; m < 3; ++m) {
    c.call.noise.uniforms = at::full({1, 1, 3}, 0.01, kDouble);
    c.call.noise.uniforms.select(2, m).fill_(0.99);
    const auto a = c.run();
    EXPECT_EQ(a.context.item<double>(), static_cast<double>(m + 1));
    Reinforce reinforce({.baseline = 0.3});
    mean += p[m].detach() * gradients(-reinforce.loss(a, kReward.narrow(0, m, 1)), {c.keys})[0];
  }
  EXPECT_TRUE(close(mean, exact, 1e-12));
}

// E over all 2^3 subsets: sum_z p(z) R(z), R any function of the subset.
TEST(Reinforce, HasTheMeanOfTheExactGradientForReinforced) {
  auto c = three_keys("reinforced(identity)");
  const auto leaf = [](std::vector<double> x, std::vector<int64_t> shape) {
    return at::tensor(x, at::kDouble).view(shape).requires_grad_();
  };
  c.parameters.set("align.from_keys", leaf({0.5, -0.3, 0.8, 0.2, 0.1, -0.6}, {2, 3}));
  c.parameters.set("align.bias", leaf({0.1, -0.2}, {2}));
  c.parameters.set("align.to_logit", leaf({0.9, -0.7}, {1, 2}));
  c.parameters.set("align.logit_bias", leaf({0.05}, {1}));
  const auto k = c.keys.detach().view({3, 1});
  const auto features = at::cat({k, k.mean().expand({3, 1}), k * k.mean()}, 1);
  const auto hidden = at::linear(features, c.parameters["align.from_keys"], c.parameters["align.bias"]);
  const auto pi =
      at::sigmoid(at::linear(hidden, c.parameters["align.to_logit"], c.parameters["align.logit_bias"])).flatten();
  const auto reward_of = [](int64_t z) { return std::sin(3.0 * static_cast<double>(z) + 1); };

  const auto names = std::vector<std::string>{"align.from_keys", "align.bias", "align.to_logit", "align.logit_bias"};
  std::vector<Tensor> weights;
  for (const auto& name : names) weights.push_back(c.parameters[name]);
  Tensor expected = at::zeros({}, kDouble);
  std::vector<Tensor> probability(8);
  for (int64_t z = 0; z < 8; ++z) {
    probability[static_cast<size_t>(z)] = at::ones({}, kDouble);
    for (int64_t j = 0; j < 3; ++j)
      probability[static_cast<size_t>(z)] = probability[static_cast<size_t>(z)] * (z >> j & 1 ? pi[j] : 1 - pi[j]);
    expected = expected + probability[static_cast<size_t>(z)] * reward_of(z);
  }
  const auto exact = gradients(expected, weights);

  std::vector<bool> seen(8);
  std::vector<Tensor> mean(4);
  for (uint64_t seed = 1; seed < 4000; ++seed) {
    c.call.noise.seed = seed;
    const auto a = c.run();
    int64_t z = 0;
    for (int64_t j = 0; j < 3; ++j) z |= static_cast<int64_t>(a.selected[0][j].item<double>()) << j;
    if (seen[static_cast<size_t>(z)]) continue;
    seen[static_cast<size_t>(z)] = true;
    EXPECT_NEAR(a.log_probability.item<double>(), std::log(probability[static_cast<size_t>(z)].item<double>()), 1e-12);
    Reinforce reinforce({.baseline = -0.4});
    const auto found = gradients(-reinforce.loss(a, at::full({1}, reward_of(z), kDouble)), weights);
    for (size_t i = 0; i < 4; ++i) {
      const auto part = probability[static_cast<size_t>(z)].detach() * found[i];
      mean[i] = mean[i].defined() ? mean[i] + part : part;
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 8);
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(close(mean[i], exact[i], 1e-12)) << names[i];
}

// The golden step: loss 2, baseline -2.5, lam_r 1, lam_e .01, key 1 sampled.
TEST(Reinforce, TakesTheGoldenStep) {
  auto c = three_keys("hard");
  c.call.noise.uniforms = at::tensor({0.3, 0.9, 0.5}, at::kDouble).view({1, 1, 3});
  const auto a = c.run();
  EXPECT_NEAR(a.log_probability.item<double>(), -1.68026967, 1e-7);
  EXPECT_NEAR(a.entropy.item<double>(), 1.02019134, 1e-7);
  Reinforce reinforce({.reward_weight = 1, .entropy_weight = 0.01, .baseline = -2.5});
  const auto grad = gradients(reinforce.loss(a, at::full({1}, -2.0, kDouble)), {c.keys})[0];
  EXPECT_TRUE(close(grad.flatten(), at::tensor({0.15310619, -0.40806802, 0.25496183}, at::kDouble), 1e-7));
  EXPECT_NEAR(reinforce.baseline(), -2.45, 1e-12);
}

// R = log p(y) - .02 (3 of 6 keys) = -1.2 - .01: equals the baseline after one step with momentum 0.
TEST(Reinforce, ChargesForWhatWasSelected) {
  Attended a;
  a.log_probability = at::zeros({1}, kDouble);
  a.selected_share = at::full({1}, 3.0 / 6, kDouble);
  a.plan.sampled = true;
  Reinforce reinforce({.selection_cost = 0.02, .momentum = 0});
  reinforce.loss(a, at::full({1}, -1.2, kDouble));
  EXPECT_NEAR(reinforce.baseline(), -1.21, 1e-12);
}

/// Two batch elements, two queries, log p = [[-1, -2], [-3, -4]].
Attended drawn_by_two_queries() {
  Attended a;
  a.context = at::zeros({2, 2, 1}, kDouble);
  a.log_probability = at::tensor({-1.0, -2.0, -3.0, -4.0}, kDouble).view({2, 2});
  a.plan.sampled = true;
  return a;
}

// Rewards [[5, 7], [11, 13]], baseline 1: -(1/2) ((4 * -1 + 6 * -2) + (10 * -3 + 12 * -4)) = 47.
TEST(Reinforce, CreditsEveryQueryWithItsOwnReward) {
  const auto reward = at::tensor({5.0, 7.0, 11.0, 13.0}, kDouble).view({2, 2});
  Reinforce reinforce({.momentum = 0.5, .baseline = 1});
  EXPECT_NEAR(reinforce.loss(drawn_by_two_queries(), reward).item<double>(), 47, 1e-12);
  EXPECT_NEAR(reinforce.baseline(), 0.5 * 1 + 0.5 * 9, 1e-12);  // the mean reward is 9

  auto with_heads = drawn_by_two_queries();  // with a second head: log p is summed over both
  with_heads.context = at::zeros({2, 2, 2, 1}, kDouble);
  with_heads.log_probability = at::stack({with_heads.log_probability, with_heads.log_probability}, 1);
  EXPECT_NEAR(Reinforce({.baseline = 1}).loss(with_heads, reward).item<double>(), 2 * 47, 1e-12);
}

// A reward of 6 that sums 3 terms equals a reward of 2 with one term: with a baseline of 2 both have an advantage of 0,
// as has a query without terms (padding). The baseline becomes the mean of a term, (6 + 2) / 4.
TEST(Reinforce, ComparesSumsWithAsManyBaselines) {
  const auto reward = at::tensor({6.0, 2.0, 0.0, 0.0}, kDouble).view({2, 2});
  const auto terms = at::tensor({3.0, 1.0, 0.0, 0.0}, kDouble).view({2, 2});
  Reinforce reinforce({.momentum = 0, .baseline = 2});
  EXPECT_EQ(reinforce.loss(drawn_by_two_queries(), reward, terms).item<double>(), 0);
  EXPECT_NEAR(reinforce.baseline(), 2, 1e-12);
  EXPECT_THROW(reinforce.loss(drawn_by_two_queries(), reward, terms.flatten()), Error);
  EXPECT_THROW(reinforce.loss(drawn_by_two_queries(), reward.narrow(1, 0, 1)), Error);
}

// A policy samples once for all queries, so a reward for each query cannot be credited to a sample.
TEST(Reinforce, RefusesRewardsByQueryForAPolicy) {
  auto a = drawn_by_two_queries();
  a.selected_share = at::ones({2, 2}, kDouble);
  EXPECT_THROW(Reinforce().loss(a, at::zeros({2, 2}, kDouble)), Error);
}

TEST(Reinforce, SaysWhatItNeeds) {
  auto c = three_keys("softmax");
  Reinforce reinforce;
  try {
    reinforce.loss(c.run(), at::zeros({1}, kDouble));
    FAIL() << "softmax draws nothing";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("got no log_probability"), std::string::npos);
  }
}

}  // namespace
}  // namespace heed::testing
