#include "heed/torch_support/own_backward.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace heed {
namespace {

/// (a, undefined, b) -> (a b, undefined, b > a as int64); records which gradients backward computes.
struct Product : OwnBackward {
  Tensors forward(const Tensors& in) override { return {in[0] * in[2], at::Tensor(), (in[2] > in[0]).to(at::kLong)}; }
  Tensors backward(const Tensors& in, const Tensors& grads, const std::vector<bool>& wanted) override {
    asked = wanted;
    Tensors found(3);
    if (wanted[0]) found[0] = grads[0] * in[2];
    if (wanted[2]) found[2] = grads[0] * in[0];
    return found;
  }
  std::vector<bool> asked;
};

TEST(OwnBackward, ComputesOnlyTheGradientsThatAreNeeded) {
  const auto a = at::full({1}, 2.0).requires_grad_(), b = at::full({1}, 3.0).requires_grad_();
  const auto step = c10::make_intrusive<Product>();
  const auto out = run(step, {a, {}, b});
  ASSERT_EQ(out.size(), 3U);
  EXPECT_FALSE(out[1].defined());
  EXPECT_EQ(torch::autograd::grad({out[0]}, {b})[0].item<double>(), 2);
  EXPECT_EQ(step->asked, (std::vector<bool>{false, false, true}));
}

TEST(OwnBackward, HasNoGradientOfIntegerOutputs) {
  const auto a = at::full({1}, 2.0).requires_grad_(), b = at::full({1}, 3.0);
  const auto out = run(c10::make_intrusive<Product>(), {a, {}, b});
  EXPECT_TRUE(out[0].requires_grad());
  EXPECT_FALSE(out[2].requires_grad());
}

TEST(OwnBackward, IsNotRecordedWithoutGradMode) {
  const auto a = at::full({1}, 2.0).requires_grad_();
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(learns({a, {}}));
  EXPECT_FALSE(run(c10::make_intrusive<Product>(), {a, {}, a})[0].requires_grad());
}

}  // namespace
}  // namespace heed
