#include "heed/backend/reference.h"

#include <gtest/gtest.h>

namespace heed::backend {
namespace {

// 1 2 3   transposed   1 4
// 4 5 6                2 5
//                      3 6
TEST(Definition, ReadsTransposedTensorsRowByRow) {
  const std::vector<int64_t> shape{3, 2};
  const auto rows = at::arange(1, 7, at::kDouble).view({2, 3});
  for (const auto type : {at::kDouble, at::kFloat, at::kLong}) {
    const auto transposed = rows.to(type).t();
    ASSERT_FALSE(transposed.is_contiguous());
    EXPECT_EQ(doubles(transposed).shape, shape);
    EXPECT_EQ(doubles(transposed).data, (std::vector<double>{1, 4, 2, 5, 3, 6}));
    EXPECT_EQ(integers(transposed).data, (std::vector<int64_t>{1, 4, 2, 5, 3, 6}));
  }
  const auto even = rows.remainder(2).eq(0).t();
  EXPECT_EQ(flags(even).data, (std::vector<uint8_t>{0, 1, 1, 0, 0, 1}));
}

}  // namespace
}  // namespace heed::backend
