#include "heed/bridge/autocast.h"

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

TEST(Autocast, LeavesHalfTypesAloneThatItDidNotMake) {
  EXPECT_EQ(full(at::ones({2}, at::kBFloat16)).scalar_type(), at::kBFloat16);
  EXPECT_FALSE(full({}).defined());
}

}  // namespace
}  // namespace heed
