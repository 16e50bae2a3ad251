#include "heed/torch_support/recompute.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "heed/torch_support/autocast.h"

namespace heed {
namespace {

Tensors product(const Tensors& x) {
  return {x[0] * x[0] * x[0] * x[1], {}, x[2].defined() ? x[2] * 2 : at::Tensor()};
}

at::Tensor grad(const at::Tensor& y, const at::Tensor& x) {
  return torch::autograd::grad({y}, {x}, {}, true, true)[0];
}

// x^3 x = x^4: the gradients at 2 are 4 x^3, 12 x^2, 24 x, 24.
TEST(Recompute, GivesEveryOrderOfDerivativeWhereInputsAreOneTensor) {
  const auto x = at::full({1}, 2.0, at::kDouble).requires_grad_();
  auto y = recompute(product, {x, x, {}})[0];
  for (const double expected : {32.0, 48.0, 48.0, 24.0}) {
    y = grad(y, x);
    EXPECT_EQ(y.item<double>(), expected);
  }
}

// x^3 x^2 = x^5.
TEST(Recompute, SeesAnInputThatWasMadeFromAnother) {
  const auto x = at::full({1}, 2.0, at::kDouble).requires_grad_();
  const auto first = grad(recompute(product, {x, x * x, {}})[0], x);
  EXPECT_EQ(first.item<double>(), 80.0);
  EXPECT_EQ(grad(first, x).item<double>(), 160.0);
}

TEST(Recompute, PassesAbsentTensorsThrough) {
  const auto x = at::full({1}, 2.0, at::kDouble).requires_grad_();
  const auto out = recompute(product, {x, x, {}});
  ASSERT_EQ(out.size(), 3U);
  EXPECT_FALSE(out[1].defined());
  EXPECT_FALSE(out[2].defined());
  EXPECT_TRUE(recompute(product, {x, x, x})[2].defined());
}

TEST(Recompute, RunsAStepOnceWhereNoGradientIsNeeded) {
  int runs = 0;
  const Step counted = [&](const Tensors& x) { return ++runs, Tensors{x[0] * 2}; };
  const auto plain = at::ones({1});
  EXPECT_FALSE(recompute(counted, {plain})[0].requires_grad());
  const auto leaf = at::ones({1}).requires_grad_();
  recompute(counted, {leaf})[0].backward();
  EXPECT_EQ(runs, 3);  // once without a gradient; once in forward and once in backward
}

// loss.backward() may be called inside an autocast scope, or after the scope in which forward ran.
TEST(Recompute, RunsBackwardInTheTypesOfForward) {
  std::vector<at::ScalarType> types;
  const Step linear = [&](const Tensors& x) {
    Tensors y{at::linear(x[0], x[1])};
    types.push_back(y[0].scalar_type());
    return y;
  };
  const auto x = at::randn({2, 3}).requires_grad_(), w = at::randn({4, 3}).requires_grad_();
  const auto expected = torch::autograd::grad({at::linear(x, w).sum()}, {x, w});
  const auto out = recompute(linear, {x, w})[0].sum();
  {
    const Autocast autocast(at::kCPU, true);
    const auto found = torch::autograd::grad({out}, {x, w});
    for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(found[i].equal(expected[i])) << i;
    recompute(linear, {x, w})[0].sum().backward();
  }
  EXPECT_EQ(types, (std::vector<at::ScalarType>{at::kFloat, at::kFloat, at::kBFloat16, at::kBFloat16}));
  types.clear();
  at::Tensor half;
  {
    const Autocast autocast(at::kCPU, true);
    half = recompute(linear, {x, w})[0].sum();
  }
  half.backward();
  EXPECT_EQ(types, (std::vector<at::ScalarType>{at::kBFloat16, at::kBFloat16}));
}

TEST(Recompute, NoticesAnInputThatWasChangedInPlace) {
  const auto x = at::full({1}, 2.0).requires_grad_();
  const auto y = x * 1;
  const auto out = recompute(product, {y, y, {}})[0];
  y.add_(1);
  EXPECT_THROW(out.backward(), std::exception);
}

}  // namespace
}  // namespace heed
