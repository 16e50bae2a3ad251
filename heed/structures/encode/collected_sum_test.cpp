// A tensor read at several steps through CollectedSum compared with reading it directly.

#include "heed/structures/encode/collected_sum.h"

#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

/// s_t = tanh(s_{t-1} x + t / 10), which reads x at every step; returns the states of all steps.
template <typename OfStep>
Tensor along_steps(const Tensor& first, const OfStep& x) {
  Tensor state = first;
  std::vector<Tensor> all;
  for (int64_t t = 0; t < 3; ++t) all.push_back(state = at::tanh(state * x() + 0.1 * static_cast<double>(t)));
  return at::stack(all);
}

struct Summing {
  Tensor x = at::randn({2, 3}, kDouble).requires_grad_(), first = at::randn({2, 3}, kDouble).requires_grad_();

  Tensor collected() const {
    const CollectedSum sum(x);
    return along_steps(first, [&] { return sum.for_step(); });
  }
  Tensor plain() const {
    return along_steps(first, [&] { return x; });
  }
};

Tensor wave_sum(const Tensor& x) {
  return (x * waves(x)).sum();
}

TEST(CollectedSum, HasTheGradientsOfPlainSteps) {
  const Summing s;
  const auto found = gradients(wave_sum(s.collected()), {s.x, s.first});
  const auto expected = gradients(wave_sum(s.plain()), {s.x, s.first});
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(found[i], expected[i], 1e-14)) << i;
}

TEST(CollectedSum, CanBeDifferentiatedTwice) {
  const Summing s;
  const auto twice = [&](const Tensor& out) {
    const auto once = gradients(wave_sum(out), {s.x, s.first}, /*create_graph=*/true);
    return gradients(wave_sum(once[0].square()) + wave_sum(once[1].square()), {s.x, s.first});
  };
  const auto found = twice(s.collected()), expected = twice(s.plain());
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(found[i], expected[i], 1e-13)) << i;
}

TEST(CollectedSum, StartsFromZeroInEveryBackward) {
  const Summing s;
  const auto out = wave_sum(s.collected());
  const auto grads = [&] { return torch::autograd::grad({out}, {s.x}, {}, /*retain_graph=*/true)[0]; };
  const auto once = grads();
  EXPECT_TRUE(same_bits(grads(), once));
  torch::autograd::grad({out}, {s.first}, {}, /*retain_graph=*/true);  // no gradient with respect to x
  EXPECT_TRUE(same_bits(grads(), once));
}

TEST(CollectedSum, LetsAbsentAndConstantTensorsPass) {
  EXPECT_FALSE(CollectedSum(Tensor()).for_step().defined());
  const auto constant = at::ones({2});
  EXPECT_TRUE(CollectedSum(constant).for_step().is_same(constant));
}

}  // namespace
}  // namespace heed::testing
