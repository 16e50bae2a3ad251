#include "heed/base/memory.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

TEST(AvailableMemory, IsThatOfThisMachineUnlessTheEnvironmentSaysOtherwise) {
  ::unsetenv("HEED_MEMORY");
  EXPECT_GT(available_memory(), uint64_t{1} << 20);
  EXPECT_LT(available_memory(), uint64_t{1} << 50);
  ::setenv("HEED_MEMORY", "1.5G", 1);
  const uint64_t given = available_memory();
  ::unsetenv("HEED_MEMORY");
  EXPECT_EQ(given, 1'500'000'000U);
}

TEST(AvailableMemory, IsASizeInBytesMegabytesOrGigabytes) {
  EXPECT_EQ(parse_memory("4096"), 4096U);
  EXPECT_EQ(parse_memory("500M"), 500'000'000U);
  for (const char* wrong : {"", "G", "-1G", "0", "nan", "1e30G", "12 G", "much"})
    EXPECT_THROW(parse_memory(wrong), Error) << wrong;
}

}  // namespace
}  // namespace heed
