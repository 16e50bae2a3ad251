#include "heed/base/memory.h"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <unistd.h>
#include <vector>

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

// 64 MiB are touched and freed: the peak is at least that, and stays.
TEST(PeakMemory, GrowsAndDoesNotFall) {
  const uint64_t before = peak_memory();
  ASSERT_GT(before, uint64_t{1} << 18);
  {
    std::vector<char> touched(size_t{1} << 26, 'x');
    ASSERT_EQ(touched[touched.size() / 2], 'x');
  }
  const uint64_t after = peak_memory();
  EXPECT_GE(after, before);
  EXPECT_GT(after, uint64_t{1} << 26);
}

TEST(AvailableMemory, IsASizeInBytesMegabytesOrGigabytes) {
  EXPECT_EQ(parse_memory("4096"), 4096U);
  EXPECT_EQ(parse_memory("500M"), 500'000'000U);
  for (const char* wrong : {"", "G", "-1G", "0", "nan", "1e30G", "12 G", "much"})
    EXPECT_THROW(parse_memory(wrong), Error) << wrong;
}

// 1000 of 1500 bytes are used, of which 600 are page cache: 1500 - 400 are available. A group without a limit has the
// text "max" in its file.
TEST(LeftInGroup, DoesNotCountCachedFilesAsUsed) {
  const std::string folder = ::testing::TempDir() + "heed_group_" + std::to_string(::getpid()) + "_";
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(folder + name) << text; };
  write("memory.max", "1500\n");
  write("memory.current", "1000\n");
  EXPECT_EQ(left_in_group(folder, "memory.max", "memory.current"), 500U);
  write("memory.stat", "anon 400\nfile 600\ninactive_file 350\nactive_file 250\nslab 7\n");
  EXPECT_EQ(left_in_group(folder, "memory.max", "memory.current"), 1100U);
  write("memory.max", "max\n");
  EXPECT_EQ(left_in_group(folder, "memory.max", "memory.current"), std::numeric_limits<uint64_t>::max());
  for (const char* name : {"memory.max", "memory.current", "memory.stat"}) ::unlink((folder + name).c_str());
}

}  // namespace
}  // namespace heed
