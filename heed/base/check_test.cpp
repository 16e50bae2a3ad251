#include "heed/base/check.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Joined, KeepsEmptyItems) {
  EXPECT_EQ(joined({"", "a"}, "\n"), "\na");
  EXPECT_EQ(joined({"", "", "a", ""}, "\n"), "\n\na\n");
  EXPECT_EQ(joined({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(joined({""}), "");
  EXPECT_EQ(joined({}), "");
}

}  // namespace
}  // namespace heed
