// Random numbers of a step depend on their indices alone: by hand, for halves of a batch, and in a repeated step.

#include "heed/torch_support/noise_scope.h"

#include <thread>

#include <gtest/gtest.h>

#include "heed/backend/dropout.h"
#include "heed/base/check.h"
#include "heed/torch_support/draws.h"

namespace heed {
namespace {

at::Tensor dropped(uint64_t seed, uint64_t step, int64_t first_row, const at::Tensor& x, double rate = 0.3) {
  const NoiseScope scope(seed, step, first_row);
  return heed::dropout(x, rate, /*training=*/true);
}

TEST(NoiseScope, IsOpenFromItsBeginningToItsEnd) {
  EXPECT_EQ(NoiseScope::current(), nullptr);
  {
    NoiseScope outer(1, 2, 3);
    EXPECT_EQ(NoiseScope::current(), &outer);
    {
      NoiseScope inner(1, 3);
      EXPECT_EQ(NoiseScope::current(), &inner);
      EXPECT_NE(inner.seed(), outer.seed());
    }
    EXPECT_EQ(NoiseScope::current(), &outer);
    EXPECT_EQ(outer.first_row(), 3);
    EXPECT_EQ(outer.next_use(), 1U);
    EXPECT_EQ(outer.next_use(), 2U);
  }
  EXPECT_EQ(NoiseScope::current(), nullptr);
}

TEST(NoiseScope, BelongsToItsThread) {
  const NoiseScope scope(1, 2);
  bool alone = false;
  std::thread([&] { alone = NoiseScope::current() == nullptr; }).join();
  EXPECT_TRUE(alone);
}

TEST(NoiseScope, TellsSeedsAndStepsApart) {
  EXPECT_NE(NoiseScope(1, 2).seed(), NoiseScope(2, 1).seed());
  EXPECT_NE(NoiseScope(1, 2).seed(), NoiseScope(1, 3).seed());
  EXPECT_NE(NoiseScope(0, 1).seed(), NoiseScope(1, 0).seed());
  EXPECT_THROW(NoiseScope(1, 2, -1), Error);
  EXPECT_EQ(NoiseScope::current(), nullptr);
}

TEST(NoiseScope, TakesOneUseForABranchHoweverLong) {
  EXPECT_EQ(NoiseScope::branch(), nullptr);
  NoiseScope scope(1, 2, 5);
  uint64_t first_seed = 0;
  {
    const auto branch = NoiseScope::branch();
    for (int i = 0; i < 10; ++i) branch->next_use();
    EXPECT_EQ(branch->first_row(), 5);
    EXPECT_NE(branch->seed(), scope.seed());
    first_seed = branch->seed();
  }
  EXPECT_EQ(scope.next_use(), 2U);
  EXPECT_NE(NoiseScope::branch()->seed(), first_seed);
}

TEST(Dropout, GivesTheSameBitsInTheSameScope) {
  const auto x = at::randn({4, 5, 6});
  EXPECT_TRUE(dropped(7, 100, 0, x).equal(dropped(7, 100, 0, x)));
}

TEST(Dropout, DiffersByStepSeedUseAndBatchElement) {
  const auto x = at::ones({4, 5, 6});
  const auto first = dropped(7, 100, 0, x);
  EXPECT_FALSE(first.equal(dropped(7, 101, 0, x)));
  EXPECT_FALSE(first.equal(dropped(8, 100, 0, x)));
  EXPECT_FALSE(first.equal(dropped(7, 100, 4, x)));
  const NoiseScope scope(7, 100);
  EXPECT_TRUE(first.equal(heed::dropout(x, 0.3, true)));
  EXPECT_FALSE(first.equal(heed::dropout(x, 0.3, true)));
}

TEST(Dropout, GivesHalvesOfABatchWhatTheWholeGets) {
  const auto x = at::randn({7, 5, 6});
  const auto whole = dropped(7, 100, 20, x);
  EXPECT_TRUE(dropped(7, 100, 20, x.narrow(0, 0, 3)).equal(whole.narrow(0, 0, 3)));
  EXPECT_TRUE(dropped(7, 100, 23, x.narrow(0, 3, 4)).equal(whole.narrow(0, 3, 4)));
}

TEST(Dropout, DoesNotDependOnTheLengthOfPadding) {
  const auto x = at::randn({3, 9, 5});
  EXPECT_TRUE(dropped(7, 1, 0, x.narrow(1, 0, 4)).equal(dropped(7, 1, 0, x).narrow(1, 0, 4)));
}

TEST(Dropout, KeepsTheExpectedShareAndScalesIt) {
  const auto y = dropped(3, 4, 0, at::ones({64, 20, 512}), 0.25);
  EXPECT_TRUE(((y == 0).logical_or(y == static_cast<float>(1 / 0.75))).all().item<bool>());
  // 655360 draws: the share has a standard deviation of sqrt(0.25 * 0.75 / 655360) = 0.00053.
  EXPECT_NEAR((y == 0).to(at::kDouble).mean().item<double>(), 0.25, 5 * 0.00053);
  EXPECT_TRUE(((y != 0).any(0).all()).item<bool>());
}

TEST(Dropout, HasTheGradientOfItsMask) {
  const auto x = at::randn({3, 4, 5}, at::kDouble).requires_grad_();
  const auto y = dropped(3, 4, 0, x, 0.4);
  y.sum().backward();
  const auto mask = (y != 0).to(at::kDouble) / 0.6;
  EXPECT_TRUE(at::allclose(x.grad(), mask, 1e-15));
  EXPECT_TRUE(at::allclose(y, x * mask, 1e-15));
}

TEST(Dropout, HasTheNumbersOfTheKernelsInEveryTypeAndShape) {
  const NoiseScope known(3, 4, 2);
  const Draws draws{known.seed(), 1, 2};
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{3, 4, 6}, {3, 6}, {3}, {3, 4, 2, 3}, {0, 4, 6}, {3, 0, 6}, {3, 4, 0}}) {
      const NoiseScope scope(3, 4, 2);
      const auto y = heed::dropout(at::ones(shape, type), 0.5, true);
      EXPECT_EQ(y.scalar_type(), type);
      EXPECT_EQ(y.sizes(), at::IntArrayRef(shape));
      if (y.numel() == 0) continue;
      const int64_t positions = shape.size() < 3 ? 1 : shape[1];
      const std::vector<int64_t> drawn{3, 1, positions, y.numel() / 3 / positions};
      const auto u = draws.uniform(kDropout, drawn, at::kFloat);
      EXPECT_TRUE(y.view(-1).to(at::kFloat).equal((u >= 0.5).to(at::kFloat).view(-1) * 2)) << y.sizes();
    }
  }
}

TEST(Dropout, IsTheSameOnAnyNumberOfThreads) {
  const auto x = at::ones({33, 7, 65});
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const auto one = dropped(3, 4, 0, x);
  at::set_num_threads(3);
  const auto three = dropped(3, 4, 0, x);
  at::set_num_threads(before);
  EXPECT_TRUE(one.equal(three));
}

TEST(Dropout, IsTorchsOutsideAScope) {
  const auto x = at::randn({4, 5, 6});
  at::manual_seed(5);
  const auto ours = heed::dropout(x, 0.3, true);
  at::manual_seed(5);
  EXPECT_TRUE(ours.equal(at::dropout(x, 0.3, true)));
}

TEST(Dropout, LeavesEverythingAloneInEvaluationAndAtRateZero) {
  NoiseScope scope(3, 4);
  const auto x = at::randn({4, 5});
  EXPECT_TRUE(heed::dropout(x, 0.3, false).equal(x));
  EXPECT_TRUE(heed::dropout(x, 0, true).equal(x));
  EXPECT_EQ(scope.next_use(), 1U);  // dropout took no use
  EXPECT_THROW(heed::dropout(x, 1, true), Error);
}

TEST(Dropout, FollowsTheScopeOnAGpuToo) {
  if (!at::hasCUDA()) GTEST_SKIP() << "there is no GPU";
  const auto x = at::ones({64, 20, 512}, at::kCUDA);
  const auto first = dropped(7, 100, 0, x);
  EXPECT_TRUE(first.equal(dropped(7, 100, 0, x)));
  EXPECT_FALSE(first.equal(dropped(7, 101, 0, x)));
  EXPECT_FALSE(first.equal(dropped(7, 100, 1, x)));
}

TEST(NoiseScope, LeavesItsSeedInACell) {
  const auto cell = at::zeros({1}, at::kLong);
  const NoiseScope scope(5, 7), other(5, 8);
  EXPECT_EQ(NoiseScope::address_of(scope.seed()), nullptr);  // before there is a cell
  scope.fill(cell);
  const uint64_t before = NoiseScope::plain_seeds();
  const uint64_t* found = NoiseScope::address_of(scope.seed());
  ASSERT_EQ(found, reinterpret_cast<const uint64_t*>(cell.data_ptr<int64_t>()));
  EXPECT_EQ(*found, scope.seed());
  EXPECT_EQ(NoiseScope::plain_seeds(), before);
  EXPECT_EQ(NoiseScope::address_of(other.seed()), nullptr);  // a plain number, which is counted
  EXPECT_EQ(NoiseScope::plain_seeds(), before + 1);
  NoiseScope::drop_cell();
  EXPECT_EQ(NoiseScope::address_of(scope.seed()), nullptr);
}

TEST(NoiseScope, DoesNotSeedAHeldGenerator) {
  const auto drawn = [](bool hold) {
    at::manual_seed(3);
    NoiseScope scope(1, 2);
    std::unique_ptr<HeldGenerators> held;
    if (hold) held = std::make_unique<HeldGenerators>();
    scope.seed_generator(at::kCPU);
    return at::rand({4});
  };
  at::manual_seed(3);
  const auto expected = at::rand({4});
  EXPECT_TRUE(at::equal(drawn(true), expected));
  EXPECT_FALSE(at::equal(drawn(false), expected));
}

}  // namespace
}  // namespace heed
