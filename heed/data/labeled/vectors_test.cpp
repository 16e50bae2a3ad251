#include "heed/data/labeled/vectors.h"

#include <zlib.h>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

class VectorFile : public FolderTest {
 protected:
  WordVectors vectors(const std::string& bytes) const {
    return read_word_vectors(write("vectors", bytes), {{"the", 2}, {"cat", 0}, {"bird", 1}});
  }
  std::string refusal(const std::string& bytes) const {
    return error_of([&] { vectors(bytes); });
  }
};

TEST_F(VectorFile, HasTheRowsOfTheVocabulary) {
  const auto read = vectors("the 0.5 -1 2e-1\ndog 1 1 1\ncat +3 .25 0\n");
  EXPECT_EQ(read.dim, 3);
  EXPECT_EQ(read.count_found, 2);
  EXPECT_EQ(read.values, (std::vector<float>{3, 0.25F, 0, 0, 0, 0, 0.5F, -1, 0.2F}));
  EXPECT_EQ(read.found, (std::vector<bool>{true, false, true}));
}

TEST_F(VectorFile, MayBeginWithItsSizeAndHaveBlanksAtTheEndOfLines) {
  const auto read = vectors("2 2\nthe 1 2 \ncat 3 4 \n");
  EXPECT_EQ(read.values, (std::vector<float>{3, 4, 0, 0, 1, 2}));
  EXPECT_EQ(vectors("the 1\n7 2\n").dim, 1);  // only a first line is a size
}

TEST_F(VectorFile, MayBeCompressedAndHaveAnyWord) {
  gzFile const file = ::gzopen(path("vectors.gz").c_str(), "wb");
  ::gzputs(file, "\xC2\xA0 1 2\n\xE7\x8C\xAB 3 4\n");
  ::gzclose(file);
  EXPECT_EQ(read_word_vectors(path("vectors.gz"), {{"猫", 0}}).values, (std::vector<float>{3, 4}));
  EXPECT_EQ(read_word_vectors(path("vectors.gz"), {{"\xC2\xA0", 0}}).values, (std::vector<float>{1, 2}));
}

TEST_F(VectorFile, GivesAWordItsFirstVector) {
  const auto read = vectors("the 1 2\nthe 3 4\n");
  EXPECT_EQ(read.values, (std::vector<float>{0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(read.count_found, 1);
}

TEST_F(VectorFile, IsRefusedWithTheLineOfTheMistake) {
  const std::string file = "data/vectors: " + path("vectors");
  EXPECT_EQ(refusal("cat 1 2\nthe 1 nan\n"),
            file + ":2: got 'nan' as value 2 of the word 'the', expected a finite number");
  for (const std::string wrong : {"inf", "x", "1x", "", "1e60", ".inf"})
    EXPECT_TRUE(says(refusal("the 1 " + wrong + " 2\n"), {file + ":1: got '" + wrong + "' as value 2"})) << wrong;
  EXPECT_EQ(refusal("the 1 2\nof course 1 2\n"), file + ":2: got 3 values, expected 2 as before; a word has no blanks");
  EXPECT_TRUE(says(refusal("1 3\nthe 1 2\n"), {file + ":2: got 2 values, expected 3 as the first line says"}));
  EXPECT_TRUE(says(refusal(""), {path("vectors") + ": is empty, expected a word and its values on each line"}));
  EXPECT_TRUE(says(refusal("the\n"), {file + ":1: got 0 values, expected 1 to 65536"}));
  EXPECT_TRUE(says(refusal("3 100000\nthe 1\n"), {file + ":1: got 100000 values"}));
  EXPECT_TRUE(says(refusal("the 1\n\n"), {file + ":2: got 0 values, expected 1 as before"}));
  EXPECT_TRUE(says(refusal("3 2\nthe 1 2\n"), {file + ": got 1 vectors, expected 3"}));
  EXPECT_TRUE(says(refusal("dog 1 2\n"), {"vectors of 1 words, none of which is among the 3 words of the vocabulary"}));
  EXPECT_TRUE(says(error_of([&] { read_word_vectors(path("vectors"), {{"the", -1}}); }), {"got row -1"}));
}

}  // namespace
}  // namespace heed::testing
