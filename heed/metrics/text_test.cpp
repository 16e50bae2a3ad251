#include "heed/metrics/text.h"

#include <gtest/gtest.h>

#include "heed/base/unicode_kinds.h"

namespace heed {
namespace {

using Words = std::vector<std::string>;

TEST(Text, IsSplitAtTheWhitespaceOfAnyScript) {
  EXPECT_EQ(split_words(" a\u00A0b\u3000c\td\n"), (Words{"a", "b", "c", "d"}));
  EXPECT_EQ(split_words(" \u2003 "), Words{});
}

TEST(Text, LosesWhitespaceAtItsEnds) {
  EXPECT_EQ(without_trailing_whitespace(" ä\u3000\u00A0 "), " ä");
  EXPECT_EQ(without_outer_whitespace("\u3000 ä b\u3000"), "ä b");
  EXPECT_EQ(without_outer_whitespace(" \u3000"), "");
}

TEST(Text, IsLoweredWithAFinalSigmaAtTheEndOfWords) {
  EXPECT_EQ(lower_cased("ΟΔΟΣ ΣΑΣ Σ Σ."), "οδος σας σ σ.");
  EXPECT_EQ(lower_cased("ΟΔΟΣ' ΑΣ.Α"), "οδος' ασ.α");
  EXPECT_EQ(lower_cased("İX"), "i\u0307x");
  EXPECT_EQ(lower_cased("ÄRGER STRASSE"), "ärger strasse");
}

TEST(Text, IsUnescapedInOnePassForEachEntity) {
  EXPECT_EQ(unescaped("&amp;lt; &quot;a&gt; &apos;"), "< \"a> &apos;");
  EXPECT_EQ(replaced("aaa", "aa", "b"), "ba");
}

TEST(UnicodeKinds, KnowPunctuationNumbersAndSymbols) {
  for (const char32_t c : {U'.', U'!', U'_', U'«', U'。', U'،'}) EXPECT_TRUE(is_punctuation(c) && !is_symbol(c));
  for (const char32_t c : {U'7', U'½', U'Ⅷ', U'٣'}) EXPECT_TRUE(is_number(c) && !is_punctuation(c));
  for (const char32_t c : {U'$', U'€', U'+', U'^', U'→', U'\U0001F600'}) EXPECT_TRUE(is_symbol(c) && !is_number(c));
  for (const char32_t c : {U'a', U'中', U' ', U'\0', char32_t{0x10FFFF}})
    EXPECT_FALSE(is_punctuation(c) || is_number(c) || is_symbol(c));
}

}  // namespace
}  // namespace heed
