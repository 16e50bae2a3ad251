// The losses of supervised attention: golden numbers, gradients, and queries without gold.

#include "heed/models/supervised_attention.h"

#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "heed/attention/attend.h"
#include "heed/attention/mechanism.h"
#include "heed/data/recipe.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

constexpr double kTolerance = 1e-12;

/// Weights of one query with these scores.
Tensor softmax_of(const std::vector<double>& scores) {
  return at::softmax(at::tensor(scores, at::kDouble), 0).unsqueeze(0);
}

// Scores ln 1, ln 2, ln 5: weights 1/8, 2/8, 5/8. Gold 1/2, 0, 1/2: the cross entropy is (ln 8 + ln 8/5) / 2, the
// squared error (3/8)^2 + (2/8)^2 + (1/8)^2 = 14/64.
TEST(SupervisedAttention, HasTheLossesOfItsFormulas) {
  const Tensor weights = softmax_of({0, std::log(2.0), std::log(5.0)}),
               gold = at::tensor({0.5, 0.0, 0.5}, at::kDouble).unsqueeze(0);
  const double entropy = (std::log(8.0) + std::log(8.0 / 5)) / 2, squared = 14.0 / 64;
  EXPECT_NEAR(row_loss(SupervisionLoss::cross_entropy, weights, gold).item<double>(), entropy, kTolerance);
  EXPECT_NEAR(row_loss(SupervisionLoss::squared_error, weights, gold).item<double>(), squared, kTolerance);
  const Tensor links = at::tensor({0, 2}, at::kLong), at_links = weights[0].index_select(0, links).log(),
               gold_links = gold[0].index_select(0, links);
  EXPECT_NEAR(link_cross_entropy(at_links, gold_links).item<double>(), entropy, kTolerance);
  EXPECT_NEAR(link_squared_error(at_links, gold_links, weights.square().sum(1)).item<double>(), squared, kTolerance);
}

// Gold {0, 2} on the weights of q = (1, .5) over k = (1, 0), (0, 1), (1, 1).
TEST(SupervisedAttention, HasTheGoldenNumbers) {
  const Tensor query = at::tensor({1.0, 0.5}, at::kDouble).view({1, 1, 2}),
               keys = at::tensor({1.0, 0.0, 0.0, 1.0, 1.0, 1.0}, at::kDouble).view({1, 3, 2});
  Call call;
  call.outputs.weights = true;
  call.outputs.links = at::tensor({0, 0, 0, 0, 0, 0, 0, 2}, at::kLong).view({2, 4});
  const auto a = attend(query, keys, keys, Mechanism::parse("dot + softmax"), {}, call);
  const Tensor gold = at::full({2}, 0.5, at::kDouble), squares = a.weights.square().sum();
  EXPECT_NEAR(link_squared_error(a.link_log_weights, gold, squares).item<double>(), 0.07193195, 5e-9);
  EXPECT_NEAR(link_cross_entropy(a.link_log_weights, gold).item<double>(), 0.93026967, 5e-9);
}

// Gold words that share nothing with the weights, and a text without any: a term of its own, and none.
TEST(SupervisedAttention, LeavesOutRowsWithoutGold) {
  const Tensor weights = at::tensor({0.0, 1.0, 0.25, 0.75}, at::kDouble).view({2, 2}).requires_grad_(),
               gold = at::tensor({1.0, 0.0, 0.0, 0.0}, at::kDouble).view({2, 2});
  EXPECT_EQ(row_loss(SupervisionLoss::squared_error, weights, gold).item<double>(), 2);
  const Tensor entropy = row_loss(SupervisionLoss::cross_entropy, weights, gold);
  EXPECT_NEAR(entropy.item<double>(), -std::log(kLeastWeight), 1e-9);
  entropy.backward();
  EXPECT_TRUE(weights.grad().isfinite().all().item<bool>());
  EXPECT_EQ(weights.grad().abs().sum().item<double>(), 0);
}

/// Keys and values of a call, and its query.
struct Inputs {
  Tensor query = at::randn({2, 5, 4}).requires_grad_(), keys = at::randn({2, 7, 4}).requires_grad_();
};

// The losses at links of a call are those of its whole weights, and so are the gradients; the sum of squared weights is
// that of the doubled scores.
TEST(SupervisedAttention, AtLinksIsThatOfStoredWeights) {
  at::manual_seed(3);
  for (const auto loss : {SupervisionLoss::cross_entropy, SupervisionLoss::squared_error}) {
    const Inputs in;
    const auto links = at::tensor({0, 0, 1, 2, 0, 0, 1, 3, 1, 0, 4, 6}, at::kLong).view({3, 4});
    const Tensor at_links = at::tensor({0.5, 0.5, 1.0}, at::kFloat);
    const Mechanism mechanism = Mechanism::parse("dot + softmax");
    Call call, doubled, stored;
    call.outputs.links = links;
    call.outputs.lse = doubled.outputs.lse = stored.outputs.weights = true;
    doubled.scale = 2;
    const auto gradients = [&](const Tensor& value) {
      value.backward();
      std::vector<Tensor> all{in.query.grad().clone(), in.keys.grad().clone()};
      for (const Tensor* x : {&in.query, &in.keys}) x->grad().zero_();
      return all;
    };
    const auto once = attend(in.query, in.keys, in.keys, mechanism, {}, call);
    const auto twice = attend(in.query, in.keys, in.keys, mechanism, {}, doubled);
    const Tensor rows = (twice.lse - 2 * once.lse).exp();  // [2, 5]
    const Tensor squares = at::stack({rows[0][1], rows[1][4]});
    const Tensor sparse = loss == SupervisionLoss::cross_entropy
                              ? link_cross_entropy(once.link_log_weights, at_links)
                              : link_squared_error(once.link_log_weights, at_links, squares);
    const Tensor weights = attend(in.query, in.keys, in.keys, mechanism, {}, stored).weights.flatten(0, 1);
    Tensor gold = at::zeros({10, 7});
    gold.index_put_({at::tensor({1, 1, 9}, at::kLong), at::tensor({2, 3, 6}, at::kLong)}, at_links);
    const Tensor dense = row_loss(loss, weights, gold);
    EXPECT_NEAR(sparse.item<double>(), dense.item<double>(), 1e-5);
    const auto a = gradients(sparse), b = gradients(dense);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_LT((a[i] - b[i]).abs().max().item<double>(), 1e-5);
  }
}

TEST(SupervisedAttention, ReadsItsKeys) {
  const auto read = [](const std::string& text, bool has_gold) {
    return read_supervision(parse_recipe("supervision: " + text + "\n", "test", {}), has_gold);
  };
  EXPECT_FALSE(read("{}", false).active());
  EXPECT_EQ(read("{}", true).weight, 1);
  EXPECT_FALSE(read("{weight: 0}", true).active());
  const Supervision all = read("{weight: 0.5, loss: squared_error, head: 2}", false);
  EXPECT_EQ(all.weight, 0.5);
  EXPECT_EQ(all.head, 2);
  EXPECT_EQ(all.loss, SupervisionLoss::squared_error);
  EXPECT_THROW(read("{loss: hinge}", true), Error);
}

}  // namespace
}  // namespace heed::testing
