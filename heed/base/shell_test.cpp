#include "heed/base/shell.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(QuotedForShell, IsReadBackAsTheSameArgument) {
  EXPECT_EQ(quoted_for_shell("runs/demo-2.1"), "runs/demo-2.1");
  EXPECT_EQ(quoted_for_shell("exp #2"), "'exp #2'");
  EXPECT_EQ(quoted_for_shell("Tom's"), R"('Tom'\''s')");
  EXPECT_EQ(quoted_for_shell(""), "''");
  EXPECT_EQ(quoted_for_shell("汤姆"), "'汤姆'");
}

}  // namespace
}  // namespace heed
