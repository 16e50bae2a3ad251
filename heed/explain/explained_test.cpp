#include "heed/explain/explained.h"

#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Explained, WeightsAreDividedByTheirSum) {
  const Tensor found = normalized(at::tensor({1.0F, 3.0F, 0.0F}));
  EXPECT_TRUE(at::allclose(found, at::tensor({0.25F, 0.75F, 0.0F})));
}

TEST(Explained, WeightsWithoutASumAreZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor found = normalized(at::tensor({0.0F, 0.0F, nan, 1.0F}).view({2, 2}));
  EXPECT_TRUE(at::equal(found, at::zeros({2, 2})));
}

}  // namespace
}  // namespace heed
