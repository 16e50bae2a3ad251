// Event files, byte for byte equal to those of TensorBoard's Python package (fixtures/events.py).

#include "heed/train/run/events.h"

#include <gtest/gtest.h>

#include "heed/train/run/crc32c.h"
#include "heed/train/run/testing_folder.h"

namespace heed::testing {
namespace {

// The version, then step 300 with train/loss 2.5 and lr 1e-3, both at second 1000.25.
constexpr const char* kFile =
    "1800000000000000a37f4b2209000000"
    "0000428f401a0d627261696e2e457665"
    "6e743a3217e9c75d2c00000000000000"
    "f4aecc45090000000000428f4010ac02"
    "2a1e0a110a0a747261696e2f6c6f7373"
    "15000020400a090a026c72156f12833a"
    "140f28c7";

std::string hex(const std::string& bytes) {
  const char* digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

TEST(Crc32c, HasTheCheckValueOfItsDefinition) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720, B.4
}

TEST(Events, AreTheBytesThatTensorboardWrites) {
  const Folder folder;
  Events(folder.path()).write(300, {{"train/loss", 2.5}, {"lr", 1e-3}}, 1000.25);
  EXPECT_EQ(hex(folder.content("events.out.tfevents.0.heed")), kFile);
}

TEST(Events, HaveTheirVersionOnce) {
  const Folder folder;
  Events(folder.path()).write(1, {{"a", 1}}, 5);
  const std::string once = folder.content(Events::kName);
  Events(folder.path()).write(1, {{"a", 1}}, 5);
  const std::string twice = folder.content(Events::kName);
  const size_t version = 8 + 4 + 24 + 4;  // length, checksum, event, checksum
  EXPECT_EQ(twice, once + once.substr(version));
}

TEST(Events, HaveNoGapsAndNoRepeatsAfterResuming) {
  const Folder whole, resumed;
  const auto write = [](Events& events, int64_t from, int64_t to) {
    for (int64_t step = from; step <= to; ++step) events.write(step, {{"loss", 1.0 / static_cast<double>(step)}}, 7);
  };
  Events events(whole.path());
  write(events, 1, 5);

  int64_t remembered = 0;
  {
    Events before(resumed.path());
    EXPECT_EQ(before.size(), 0);
    write(before, 1, 3);
    remembered = before.size();
    write(before, 4, 4);
  }
  Events after(resumed.path());
  after.truncate_to(remembered);
  write(after, 4, 5);
  EXPECT_EQ(hex(resumed.content(Events::kName)), hex(whole.content(Events::kName)));
  after.truncate_to(0);
  write(after, 1, 5);
  EXPECT_EQ(hex(resumed.content(Events::kName)), hex(whole.content(Events::kName)));
}

}  // namespace
}  // namespace heed::testing
