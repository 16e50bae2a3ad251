// Products with collected gradients compared with the same products in plain autograd.

#include "heed/structures/encode/collected_product.h"

#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

enum class ProductForm { nothing, bias, rows };

/// s_t = tanh(s_{t-1} W' + ...), so that every step depends on the previous ones; returns the states of all steps.
struct Chain {
  ProductForm form;
  Tensor weight = at::randn({3, 3}, kDouble).requires_grad_();
  Tensor bias = at::randn({3}, kDouble).requires_grad_();
  Tensor rows = at::randn({4, 2, 3}, kDouble).requires_grad_();
  Tensor first = at::randn({2, 3}, kDouble).requires_grad_();

  Tensor added(int64_t t) const { return form == ProductForm::rows ? rows.select(0, t) : Tensor(); }

  Tensor collected() const {
    CollectedProduct product(weight, form == ProductForm::bias ? bias : Tensor());
    return along([&](const Tensor& x, int64_t t) { return product(x, added(t)); });
  }
  Tensor plain() const {
    return along([&](const Tensor& x, int64_t t) {
      const auto y = at::mm(x, weight.t());
      return form == ProductForm::nothing ? y : y + (form == ProductForm::bias ? bias : added(t));
    });
  }
  template <typename Product>
  Tensor along(const Product& product) const {
    Tensor state = first;
    std::vector<Tensor> all;
    for (int64_t t = 0; t < 4; ++t) all.push_back(state = at::tanh(product(state, t)));
    return at::stack(all);
  }
  std::vector<Tensor> leaves() const {
    if (form == ProductForm::nothing) return {weight, first};
    return form == ProductForm::bias ? std::vector<Tensor>{weight, first, bias}
                                     : std::vector<Tensor>{weight, first, rows};
  }
};

Tensor chain_loss(const Tensor& x) {
  return (x * waves(x)).sum();
}

void expect_gradients(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(close(found[i], expected[i], 1e-12)) << i;
}

class EveryProduct : public ::testing::TestWithParam<ProductForm> {};
INSTANTIATE_TEST_SUITE_P(CollectedProduct, EveryProduct,
                         ::testing::Values(ProductForm::nothing, ProductForm::bias, ProductForm::rows));

TEST_P(EveryProduct, HasTheGradientsOfPlainProducts) {
  const Chain chain{GetParam()};
  EXPECT_TRUE(close(chain.collected(), chain.plain(), 1e-13));
  expect_gradients(gradients(chain_loss(chain.collected()), chain.leaves()),
                   gradients(chain_loss(chain.plain()), chain.leaves()));
}

TEST_P(EveryProduct, CanBeDifferentiatedTwice) {
  const Chain chain{GetParam()};
  const auto twice = [&](const Tensor& out) {
    Tensor sum = at::zeros({}, kDouble);
    for (const auto& grad : gradients(chain_loss(out), chain.leaves(), /*create_graph=*/true))
      sum = sum + chain_loss(grad.square());
    return gradients(sum, chain.leaves());
  };
  expect_gradients(twice(chain.collected()), twice(chain.plain()));
}

// Gradients collected in one backward must not appear in the next one.
TEST_P(EveryProduct, ForgetsWhatItHasGathered) {
  const Chain chain{GetParam()};
  const auto out = chain.collected(), plain = chain.plain();
  const auto grads = [&](const Tensor& of, const std::vector<Tensor>& leaves) {
    return torch::autograd::grad({of}, leaves, {}, /*retain_graph=*/true, /*create_graph=*/false,
                                 /*allow_unused=*/true);
  };
  const auto first_two = [](const Tensor& x) { return chain_loss(x.narrow(0, 0, 2)); };
  grads(chain_loss(out), {chain.first});  // no gradient with respect to the weight
  expect_gradients(grads(chain_loss(out), chain.leaves()), grads(chain_loss(plain), chain.leaves()));
  expect_gradients(grads(first_two(out), chain.leaves()), grads(first_two(plain), chain.leaves()));
  expect_gradients(grads(chain_loss(out), chain.leaves()), grads(chain_loss(plain), chain.leaves()));
}

TEST_P(EveryProduct, StaysInItsTypeInsideAnAutocastScope) {
  Chain chain{GetParam()};
  for (Tensor* x : {&chain.weight, &chain.bias, &chain.rows, &chain.first})
    *x = x->detach().to(at::kFloat).requires_grad_();
  const auto out = chain_loss(chain.collected());
  const auto outside = torch::autograd::grad({out}, chain.leaves(), {}, /*retain_graph=*/true);
  const Autocast autocast(at::kCPU, true);
  const auto inside = torch::autograd::grad({out}, chain.leaves());
  for (size_t i = 0; i < inside.size(); ++i) EXPECT_TRUE(same_bits(inside[i], outside[i])) << i;
}

TEST(CollectedProduct, LeavesFrozenWeightsAlone) {
  Chain chain{ProductForm::bias};
  chain.weight.requires_grad_(false);
  expect_gradients(gradients(chain_loss(chain.collected()), {chain.first, chain.bias}),
                   gradients(chain_loss(chain.plain()), {chain.first, chain.bias}));
  chain.bias.requires_grad_(false);
  expect_gradients(gradients(chain_loss(chain.collected()), {chain.first}),
                   gradients(chain_loss(chain.plain()), {chain.first}));
}

TEST(CollectedProduct, AddsEitherABiasOrRows) {
  CollectedProduct product(at::zeros({3, 3}), at::zeros({3}));
  EXPECT_THROW(product(at::zeros({2, 3}), at::zeros({2, 3})), Error);
}

}  // namespace
}  // namespace heed::testing
