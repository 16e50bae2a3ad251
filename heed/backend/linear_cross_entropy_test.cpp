#include "heed/backend/linear_cross_entropy.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "heed/base/check.h"

namespace heed::testing {
namespace {

struct Layer {
  at::Tensor x, weight, bias, wanted;

  Layer(int64_t rows, int64_t width, int64_t classes, bool biased) {
    at::manual_seed(1);
    x = at::randn({rows, width});
    weight = at::randn({classes, width});
    if (biased) bias = at::randn({classes});
    wanted = at::randint(classes, {rows}, at::kLong);
    if (rows > 4) wanted[4] = -7;
  }
  Layer as(at::ScalarType type) const {
    Layer other = *this;
    for (auto* t : {&other.x, &other.weight, &other.bias})
      if (t->defined()) *t = t->detach().to(type).clone().requires_grad_();
    return other;
  }
  std::vector<at::Tensor> inputs() const {
    return bias.defined() ? std::vector<at::Tensor>{x, weight, bias} : std::vector<at::Tensor>{x, weight};
  }
  at::Tensor definition(double smoothing) const {
    return at::cross_entropy_loss(at::linear(x, weight, bias), wanted, {}, at::Reduction::Sum, -7, smoothing);
  }
};

double relative_error(const at::Tensor& got, const at::Tensor& expected) {
  const double norm = expected.norm().item<double>();
  return (got.to(at::kDouble) - expected).norm().item<double>() / (norm > 0 ? norm : 1);
}

TEST(LinearCrossEntropy, IsThatOfTorch) {
  for (const auto& [rows, classes] : {std::pair<int64_t, int64_t>{0, 9}, {1, 1}, {9, 7}, {40, 301}, {900, 9701}})
    for (const bool biased : {false, true})
      for (const double smoothing : {0.0, 0.1})
        for (const bool consume : {false, true}) {
          SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(classes) + " classes");
          const Layer given(rows, 12, classes, biased);
          const Layer exact = given.as(at::kDouble), own = given.as(at::kFloat);
          const auto expected = exact.definition(smoothing);
          const auto got = linear_cross_entropy(own.x, own.weight, own.bias, own.wanted,
                                                {.smoothing = smoothing, .ignored = -7, .consume = consume});
          EXPECT_LT(relative_error(got, expected), 1e-6);
          const auto expected_grads = torch::autograd::grad({3 * expected}, exact.inputs());
          const auto grads = torch::autograd::grad({3 * got}, own.inputs());
          for (size_t i = 0; i < grads.size(); ++i) EXPECT_LT(relative_error(grads[i], expected_grads[i]), 2e-6) << i;
        }
}

TEST(LinearCrossEntropy, LearnsOnlyWhatItIsAskedTo) {
  const Layer given = Layer(20, 6, 30, true);
  const Layer own = given.as(at::kFloat);
  const auto weight_alone = linear_cross_entropy(given.x, own.weight, given.bias, given.wanted, {.ignored = -7});
  const auto all = linear_cross_entropy(own.x, own.weight, own.bias, given.wanted, {.ignored = -7});
  EXPECT_TRUE(
      torch::autograd::grad({weight_alone}, {own.weight})[0].equal(torch::autograd::grad({all}, {own.weight})[0]));
  const at::NoGradGuard no_grad;
  const auto plain = linear_cross_entropy(own.x, own.weight, own.bias, given.wanted, {.ignored = -7});
  EXPECT_FALSE(plain.requires_grad());
  EXPECT_EQ(plain.item<float>(), all.item<float>());
}

TEST(LinearCrossEntropy, HasASecondDerivative) {
  const Layer given(6, 4, 9, true);
  const auto second = [](const Layer& layer, const at::Tensor& loss) {
    const auto first = torch::autograd::grad({loss}, layer.inputs(), {}, true, /*create_graph=*/true);
    return torch::autograd::grad({first[0].square().sum() + first[1].square().sum()}, layer.inputs());
  };
  const Layer exact = given.as(at::kDouble), own = given.as(at::kFloat);
  const auto expected = second(exact, exact.definition(0.2));
  const auto got =
      second(own, linear_cross_entropy(own.x, own.weight, own.bias, own.wanted, {.smoothing = 0.2, .ignored = -7}));
  for (size_t i = 0; i < got.size(); ++i) EXPECT_LT(relative_error(got[i], expected[i]), 1e-5) << i;
}

TEST(LinearCrossEntropy, RunsBackwardAgainUnlessConsumed) {
  const Layer own = Layer(6, 4, 9, false).as(at::kFloat);
  const auto kept = linear_cross_entropy(own.x, own.weight, {}, own.wanted, {.ignored = -7});
  const auto first = torch::autograd::grad({kept}, {own.x}, {}, /*retain_graph=*/true)[0];
  EXPECT_TRUE(torch::autograd::grad({kept}, {own.x})[0].equal(first));
  const auto consumed = linear_cross_entropy(own.x, own.weight, {}, own.wanted, {.ignored = -7, .consume = true});
  torch::autograd::grad({consumed}, {own.x}, {}, /*retain_graph=*/true);
  EXPECT_THROW(torch::autograd::grad({consumed}, {own.x}), Error);
}

TEST(LinearCrossEntropy, RefusesAClassThatIsNotThere) {
  const Layer given(3, 4, 9, false);
  for (const int64_t bad : {int64_t{9}, int64_t{-1}}) {
    const auto wanted = at::full({3}, bad, at::kLong);
    EXPECT_THROW(linear_cross_entropy(given.x, given.weight, {}, wanted), Error) << bad;
  }
}

TEST(LinearCrossEntropy, PassesOnWhatIsNotFinite) {
  const Layer own = Layer(3, 4, 9, false).as(at::kFloat);
  {
    const at::NoGradGuard no_grad;
    own.x[1][2] = NAN;
  }
  EXPECT_FALSE(linear_cross_entropy(own.x, own.weight, {}, own.wanted).isfinite().item<bool>());
}

}  // namespace
}  // namespace heed::testing
