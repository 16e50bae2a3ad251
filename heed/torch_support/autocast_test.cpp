#include "heed/torch_support/autocast.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

at::Tensor product() {
  return at::linear(at::ones({2, 3}), at::ones({4, 3}), at::ones({4}));
}

TEST(Autocast, MakesProductsBfloat16WhileItLives) {
  {
    const Autocast autocast(at::kCPU, true);
    EXPECT_EQ(product().scalar_type(), at::kBFloat16);
    EXPECT_EQ(full(product()).scalar_type(), at::kFloat);
    const FullPrecision precision;
    EXPECT_EQ(product().scalar_type(), at::kFloat);
  }
  EXPECT_EQ(product().scalar_type(), at::kFloat);
  const Autocast off(at::kCPU, false);
  EXPECT_EQ(product().scalar_type(), at::kFloat);
}

TEST(Autocast, RestoresWhatWasSetBefore) {
  const Autocast outer(at::kCPU, true);
  {
    const Autocast inner(at::kCPU, true);
    EXPECT_EQ(product().scalar_type(), at::kBFloat16);
  }
  EXPECT_EQ(product().scalar_type(), at::kBFloat16);
}

TEST(AutocastState, IsAppliedInsideAnotherScopeAndThenRestored) {
  const AutocastState off;
  const Autocast autocast(at::kCPU, true);
  const AutocastState on;
  {
    const AutocastState::Guard guard(off);
    EXPECT_EQ(product().scalar_type(), at::kFloat);
    const AutocastState::Guard again(on);
    EXPECT_EQ(product().scalar_type(), at::kBFloat16);
  }
  EXPECT_EQ(product().scalar_type(), at::kBFloat16);
  const FullPrecision precision;
  const AutocastState none;  // FullPrecision is part of the state
  const AutocastState::Guard guard(on);
  EXPECT_EQ(product().scalar_type(), at::kBFloat16);
  const AutocastState::Guard back(none);
  EXPECT_EQ(product().scalar_type(), at::kFloat);
}

TEST(Autocast, LeavesHalfTypesAloneThatItDidNotMake) {
  EXPECT_EQ(full(at::ones({2}, at::kBFloat16)).scalar_type(), at::kBFloat16);
  EXPECT_FALSE(full({}).defined());
}

}  // namespace
}  // namespace heed
