#include "heed/base/utf8.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Utf8, RoundTripsThroughCodePoints) {
  const std::string text = "a\xC3\xA4\xE6\x9D\xB0\xF0\x9F\x98\x80";  // 1, 2, 3 and 4 bytes
  EXPECT_EQ(decoded(text), U"a\u00E4\u6770\U0001F600");
  EXPECT_EQ(encoded(decoded(text)), text);
  EXPECT_EQ(encoded(char32_t{0x6770}), "\xE6\x9D\xB0");
  EXPECT_EQ(first_invalid_utf8(text), std::string::npos);
}

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_EQ(first_invalid_utf8("ab\xFFz"), 2U);
  EXPECT_EQ(first_invalid_utf8("a\x80"), 1U);             // a continuation byte without a lead byte
  EXPECT_EQ(first_invalid_utf8("a\xE6\x9D"), 1U);         // truncated
  EXPECT_EQ(first_invalid_utf8("\xC0\xAF"), 0U);          // overlong
  EXPECT_EQ(first_invalid_utf8("\xE0\x80\xAF"), 0U);      // overlong
  EXPECT_EQ(first_invalid_utf8("\xED\xA0\x80"), 0U);      // a surrogate
  EXPECT_EQ(first_invalid_utf8("\xF4\x90\x80\x80"), 0U);  // beyond U+10FFFF
  EXPECT_EQ(decoded("a\xFFz"), U"a\uFFFDz");
}

TEST(Utf8, LowersOneCharacterAtATime) {
  EXPECT_EQ(lowered("ÄRGER Straße ΣΑΣ 汤姆 Éa"), "ärger straße σασ 汤姆 éa");
}

TEST(Utf8, KnowsTheWhitespaceOfOtherScripts) {
  for (const char32_t c : {U' ', U'\t', U'\n', U'\u00A0', U'\u3000', U'\u2003', U'\x1F'}) EXPECT_TRUE(is_whitespace(c));
  for (const char32_t c : {U'a', U'\u200B', U'\u4E2D', U'_'}) EXPECT_FALSE(is_whitespace(c));
}

TEST(Utf8, KnowsLowerCaseLetters) {
  for (const char32_t letter : U"azßéжω") EXPECT_EQ(is_lowercase(letter), letter != 0) << static_cast<uint32_t>(letter);
  for (const char32_t other : U"AZÉЖ7.字 ") EXPECT_FALSE(is_lowercase(other)) << static_cast<uint32_t>(other);
}

}  // namespace
}  // namespace heed
