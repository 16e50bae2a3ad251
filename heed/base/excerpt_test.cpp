#include "heed/base/excerpt.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Excerpt, ShowsOrdinaryTextAsItIs) {
  EXPECT_EQ(excerpt("汤姆 chases Jerry"), "汤姆 chases Jerry");
  EXPECT_EQ(excerpt(""), "");
  EXPECT_EQ(excerpt("\xEF\xBF\xBD"), "\xEF\xBF\xBD");  // U+FFFD itself
}

TEST(Excerpt, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(excerpt("a\x1b[31mb\n\tc\r"), "a\\x1b[31mb\\n\\tc\\r");
  EXPECT_EQ(excerpt("\xE2\x80\xAE"
                    "x"),
            "\\u202ex");
  EXPECT_EQ(excerpt("\xC2\x9B"
                    "2J"),
            "\\x9b2J");  // CSI as one character
  EXPECT_EQ(excerpt("a\xFF\xC3"), "a\\xff\\xc3");
}

TEST(Excerpt, ShowsOnlyTheStartOfALongText) {
  EXPECT_EQ(excerpt("abcdef", 3), "abc... (6 characters)");
  EXPECT_EQ(excerpt("汤姆追逐杰瑞", 2), "汤姆... (6 characters)");
  EXPECT_EQ(excerpt("abc", 3), "abc");
  EXPECT_LT(excerpt(std::string(1'000'000, '\x1b')).size(), 400U);
}

TEST(PrintableMessage, KeepsLinesAndTheEndOfALongOne) {
  EXPECT_EQ(printable_message("a\nb\x1b[2J\n"), "a\nb\\x1b[2J\n");
  const std::string text = printable_message("train: got '" + std::string(100'000, 'x') + "', expected a number");
  EXPECT_LT(text.size(), 2000U);
  EXPECT_EQ(text.rfind("train: got 'xxx", 0), 0U);
  EXPECT_NE(text.find("xxx [...] xxx"), std::string::npos);
  EXPECT_NE(text.find("', expected a number"), std::string::npos);
}

TEST(ReadableBytes, HasTwoDigitsOrMore) {
  EXPECT_EQ(readable_bytes(512), "512 B");
  EXPECT_EQ(readable_bytes(3.2e9), "3.2 GB");
  EXPECT_EQ(readable_bytes(38e9), "38 GB");
}

}  // namespace
}  // namespace heed
