// Directional self-attention.

#include "heed/structures/testing_plain.h"

namespace heed::testing {
namespace {

/// u of one direction, feature by feature: f [L, D], each over those it attends to.
Tensor directed(const Plain& p, const std::string& way, const Tensor& f) {
  const int64_t L = f.size(0);
  const auto score = p.under(way + ".score");
  const auto asks = score.linear(f, "from_query", "bias"), answers = score.linear(f, "from_keys", "");
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < L; ++i) {
    const int64_t first = way == "forward" ? 0 : i + 1, count = way == "forward" ? i : L - 1 - i;
    const auto e = 5 * at::tanh((asks[i] + answers.narrow(0, first, count)) / 5);  // [count, D]
    rows.push_back(count == 0 ? at::zeros_like(f[i]) : (at::softmax(e, 0) * f.narrow(0, first, count)).sum(0));
  }
  const auto s = at::stack(rows);
  const auto gate =
      at::sigmoid(p.linear(s, way + "_gate_context", way + "_gate_bias") + p.linear(f, way + "_gate_features", ""));
  return gate * f + (1 - gate) * s;
}

TEST(Directional, IsItsFormula) {
  const auto made = stirred("directional", {.features = {3}});
  const Features features = random_features(5, 3);
  const Plain p{*made};
  const auto u = at::cat({directed(p, "forward", features.rows[0]), directed(p, "backward", features.rows[0])}, -1);
  const auto hidden = at::elu(p.linear(u, "pool.score.from_keys", "pool.score.bias"));
  const auto e = hidden.matmul(p["pool.score.query"][0].t());  // [L, 2D]
  const auto out = made->forward({.features = {features}});
  EXPECT_EQ(made->width(), 6);
  EXPECT_TRUE(close(out.context[0][0], (at::softmax(e, 0) * u).sum(0)));
}

TEST(Directional, ShowsTheFirstAndTheLastFeatureNothing) {
  const auto made = stirred("directional", {.features = {3}});
  Features features = random_features(4, 3);
  features.keep = at::tensor({0, 1, 1, 1}).to(at::kBool).view({1, 4});
  const auto out = made->forward({.features = {features}});
  const auto forward = out.step("forward").context[0], backward = out.step("backward").context[0];
  ASSERT_EQ(forward.size(0), 3);  // all but the first are queries forward, all but the last backward
  ASSERT_EQ(backward.size(0), 3);
  EXPECT_EQ(largest(forward[0]), 0);                    // query of feature 1, the first real one
  EXPECT_TRUE(close(forward[1], features.rows[0][1]));  // feature 2 attends to the only one before it
  EXPECT_TRUE(close(backward[2], features.rows[0][3]));
}

// s = 0, so u = g f with g = sigmoid(W_f f + b), and the pool has a single key.
TEST(Directional, LetsASingleFeatureThroughItsGatesAlone) {
  const auto made = stirred("directional", {.features = {3}});
  const Features one = random_features(1, 3);
  const Plain p{*made};
  std::vector<Tensor> expected;
  for (const std::string way : {"forward", "backward"})
    expected.push_back(at::sigmoid(p.linear(one.rows[0], way + "_gate_features", way + "_gate_bias")) * one.rows[0]);
  EXPECT_TRUE(close(made->forward({.features = {one}}).context[0], at::cat(expected, -1)));
}

TEST(Directional, ReadsInOrder) {
  const auto made = stirred("directional", {.features = {3}});
  const Features features = random_features(4, 3);
  const auto forth = made->forward({.features = {features}}).context;
  EXPECT_FALSE(close(made->forward({.features = {{features.rows.flip(1)}}}).context, forth, 1e-3));
}

TEST(Directional, PoolsWithOneWeightForAFeatureWhereTheMechanismHasOne) {
  const auto made = stirred("directional", {.features = {3}, .mechanism = "scaled_dot + sparsemax"});
  const auto out = made->forward({.features = {random_features(4, 3)}, .call = {.outputs = {.weights = true}}});
  EXPECT_EQ(out.step("pool").weights.sizes(), (std::vector<int64_t>{1, 1, 4}));
  const auto channels = stirred("directional", {.features = {3}});
  const auto each = channels->forward({.features = {random_features(4, 3)}, .call = {.outputs = {.weights = true}}});
  EXPECT_EQ(each.step("pool").weights.sizes(), (std::vector<int64_t>{1, 1, 4, 6}));
}

TEST(Directional, RefusesWhatHasNoMeaning) {
  EXPECT_THROW(structure("directional(both)", {.features = {3}}), Error);
  StructureInput causal{.features = {random_features(4, 3)}};
  causal.call.mask.causal = Causal::top_left;  // the structure sets the directions itself
  EXPECT_THROW(stirred("directional", {.features = {3}})->forward(causal), Error);
}

}  // namespace
}  // namespace heed::testing
