#include "heed/backend/cross_entropy.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "heed/base/check.h"

namespace heed::testing {
namespace {

struct LossAndGradient {
  at::Tensor loss, gradient;
};

template <typename Compute>
LossAndGradient with_gradient(const at::Tensor& logits, const Compute& compute) {
  const auto leaf = logits.detach().clone().requires_grad_();
  const auto loss = compute(leaf * 1);  // the memory of a leaf is nobody's to take
  (3 * loss).backward();
  return {loss.detach(), leaf.grad()};
}

void expect_definition(at::Device device) {
  for (const double smoothing : {0.0, 0.1})
    for (const int64_t classes : {1, 7, 300, 9701})
      for (const bool consume : {false, true}) {
        SCOPED_TRACE(std::to_string(classes) + " classes, smoothing " + std::to_string(smoothing));
        at::manual_seed(1);
        const auto logits = 5 * at::randn({9, classes}, at::kFloat);
        auto wanted = at::randint(classes, {9}, at::kLong);
        wanted[4] = -7;
        const auto expected = with_gradient(logits.to(at::kDouble), [&](const at::Tensor& x) {
          return at::cross_entropy_loss(x, wanted, {}, at::Reduction::Sum, -7, smoothing);
        });
        const auto got = with_gradient(logits.to(device), [&](const at::Tensor& x) {
          return cross_entropy(x, wanted.to(device), {.smoothing = smoothing, .ignored = -7, .consume = consume});
        });
        EXPECT_TRUE(at::allclose(got.loss.cpu().to(at::kDouble), expected.loss, 1e-5, 1e-5))
            << got.loss << expected.loss;
        EXPECT_TRUE(at::allclose(got.gradient.cpu().to(at::kDouble), expected.gradient, 1e-4, 1e-6));
        EXPECT_EQ(got.gradient[4].abs().max().item<float>(), 0);
      }
}

TEST(CrossEntropy, IsThatOfTorch) {
  expect_definition(at::kCPU);
}

TEST(CrossEntropyOnCuda, IsThatOfTorch) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  expect_definition(at::kCUDA);
}

TEST(CrossEntropyOnCuda, PassesOnWhatIsNotFinite) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  for (const double bad : {double{NAN}, double{INFINITY}}) {
    auto logits = at::randn({2, 500}, at::kCUDA);
    logits[1][300] = bad;
    EXPECT_FALSE(at::isfinite(cross_entropy(logits, at::zeros({2}, logits.options().dtype(at::kLong)))).item<bool>());
  }
}

TEST(CrossEntropyOnCuda, HasASecondDerivative) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  const auto second = [](const at::Tensor& logits, const at::Tensor& loss) {
    const auto first = torch::autograd::grad({loss}, {logits}, {}, true, /*create_graph=*/true)[0];
    return torch::autograd::grad({first.square().sum()}, {logits})[0];
  };
  const auto logits = at::randn({4, 9}, at::kCUDA).requires_grad_();
  const auto wanted = at::randint(9, {4}, logits.options().dtype(at::kLong).requires_grad(false));
  const auto got = second(logits, cross_entropy(logits, wanted, {.smoothing = 0.2}));
  const auto expected = second(logits, at::cross_entropy_loss(logits, wanted, {}, at::Reduction::Sum, -100, 0.2));
  EXPECT_TRUE(at::allclose(got, expected, 1e-4, 1e-6));
}

TEST(CrossEntropyOnCuda, RefusesASecondBackwardOfConsumedLogits) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  const auto leaf = at::randn({4, 9}, at::kCUDA).requires_grad_();
  const auto loss =
      cross_entropy(leaf * 1, at::zeros({4}, leaf.options().dtype(at::kLong).requires_grad(false)), {.consume = true});
  loss.backward({}, /*retain_graph=*/true);
  EXPECT_THROW(loss.backward(), Error);
}

}  // namespace
}  // namespace heed::testing
