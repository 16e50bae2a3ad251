// Stems of the paper's examples, and of many words as NLTK has them. fixtures/porter_stems.py writes
// fixtures/porter_stems.txt.

#include "heed/metrics/porter_stem.h"

#include <fstream>

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(PorterStem, RemovesSuffixesOfThePaper) {
  EXPECT_EQ(porter_stem("caresses"), "caress");
  EXPECT_EQ(porter_stem("hopping"), "hop");
  EXPECT_EQ(porter_stem("filing"), "file");
  EXPECT_EQ(porter_stem("relational"), "relat");
  EXPECT_EQ(porter_stem("vietnamization"), "vietnam");
  EXPECT_EQ(porter_stem("homologous"), "homolog");
}

TEST(PorterStem, HasTheExtensionsOfNltk) {
  EXPECT_EQ(porter_stem("dying"), "die");
  EXPECT_EQ(porter_stem("ties"), "tie");
  EXPECT_EQ(porter_stem("enjoy"), "enjoy");
  EXPECT_EQ(porter_stem("geology"), "geolog");
  EXPECT_EQ(porter_stem("as"), "as");
  EXPECT_EQ(porter_stem(""), "");
}

// In bytes these would be longer, and the last of them would end in a double letter (e0 a0 a0).
TEST(PorterStem, CountsCharactersNotBytes) {
  EXPECT_EQ(porter_stem("\u00e9s"), "\u00e9s");     // two letters
  EXPECT_EQ(porter_stem("\u00e9ies"), "\u00e9ie");  // four letters
  EXPECT_EQ(porter_stem("a\u0820ed"), "a\u0820e");  // a short stem
}

TEST(PorterStem, IsThatOfNltkForManyWords) {
  std::ifstream file("heed/metrics/fixtures/porter_stems.txt");
  int words = 0;
  for (std::string word, stem; file >> word >> stem; ++words) EXPECT_EQ(porter_stem(word), stem) << word;
  EXPECT_EQ(words, 6000);
}

// yyy... alternates vowels and consonants, so each letter depends on the one before.
TEST(PorterStem, OfALongWordTakesLinearTime) {
  EXPECT_EQ(porter_stem(std::string(1'000'000, 'y') + "es").size(), 1'000'000U);
}

}  // namespace
}  // namespace heed
