#include "heed/backend/linear.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace heed::testing {
namespace {

using at::Tensor;

struct Layer {
  Tensor x, weight, bias;
  std::vector<Tensor> learned() const {
    std::vector<Tensor> all{x, weight};
    if (bias.defined()) all.push_back(bias);
    return all;
  }
  Layer to(at::Device device, at::ScalarType type) const {
    const auto moved = [&](const Tensor& t) { return t.defined() ? t.detach().to(device, type).requires_grad_() : t; };
    return {moved(x), moved(weight), moved(bias)};
  }
};

Layer random_layer(at::IntArrayRef shape, int64_t out, bool bias) {
  return {at::randn(shape).requires_grad_(), at::randn({out, shape.back()}).requires_grad_(),
          bias ? at::randn({out}).requires_grad_() : Tensor()};
}

bool close(const Tensor& found, const Tensor& expected) {
  return found.to(at::kCPU, at::kDouble).allclose(expected, 1e-4, 1e-4);
}

/// The value, the gradients and those of the squared gradients.
std::vector<Tensor> orders_of(const Layer& layer, bool own) {
  const auto y =
      own ? linear_layer(layer.x, layer.weight, layer.bias)
          : at::linear(layer.x, layer.weight, layer.bias.defined() ? c10::optional<Tensor>(layer.bias) : c10::nullopt);
  std::vector<Tensor> all{y};
  const auto first = torch::autograd::grad({y.square().sum()}, layer.learned(), {}, true, /*create_graph=*/true);
  Tensor squares = at::zeros({}, y.options());
  for (const auto& x : first) squares = squares + x.square().sum();
  for (const auto& x : first) all.push_back(x);
  for (const auto& x : torch::autograd::grad({squares}, layer.learned())) all.push_back(x);
  return all;
}

void expect_like_torch(at::Device device) {
  at::manual_seed(3);
  for (const bool bias : {false, true})
    for (const auto& shape : std::vector<std::vector<int64_t>>{{7}, {1, 1, 1, 64}, {5, 2, 33}, {40, 70}}) {
      const Layer layer = random_layer(shape, 45, bias);
      const auto expected = orders_of(layer.to(at::kCPU, at::kDouble), false);
      const auto found = orders_of(layer.to(device, at::kFloat), true);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        const double size = expected[i].detach().abs().max().item<double>();
        EXPECT_TRUE(close(found[i].detach() / size, expected[i].detach() / size)) << i;
      }
    }
}

TEST(LinearLayer, IsThatOfTorch) {
  expect_like_torch(at::kCPU);
}

TEST(LinearLayer, IsThatOfTorchOnAGpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  expect_like_torch(at::kCUDA);
}

TEST(LinearLayer, TakesAnyLayoutOnAGpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  const auto x = at::randn({6, 9}, at::kCUDA).t(), weight = at::randn({6, 8}, at::kCUDA).t();
  EXPECT_TRUE(close(linear_layer(x, weight), at::linear(x.cpu().to(at::kDouble), weight.cpu().to(at::kDouble))));
  EXPECT_EQ(linear_layer(at::empty({0, 6}, at::kCUDA), weight).sizes(), (std::vector<int64_t>{0, 8}));
}

}  // namespace
}  // namespace heed::testing
