// PGM in both forms, with comments and 16 bits; and files that are none.

#include "apps/cli/image/pixels.h"

#include <functional>

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed::cli {
namespace {

using namespace std::string_literals;
using Values = std::vector<uint16_t>;

Pixels read(const std::string& bytes) {
  return read_pixels("x.pgm", bytes, PixelMeaning::brightness);
}

std::string problem_of(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no problem";
}

TEST(Pixels, ReadsPgmOfText) {
  const Pixels found = read("P2\n# a comment\n3 2 # width, height\n15\n0 1 2\n3 # four\n4 15");
  EXPECT_EQ(found.width, 3);
  EXPECT_EQ(found.height, 2);
  EXPECT_EQ(found.channels, 1);
  EXPECT_EQ(found.max, 15);
  EXPECT_EQ(found.values, (Values{0, 1, 2, 3, 4, 15}));
}

TEST(Pixels, ReadsPgmOfBytes) {
  EXPECT_EQ(read("P5 2 1 255\n\x00\xFF"s).values, (Values{0, 255}));
  EXPECT_EQ(read("P5#c\n2 1\n#d\n255 #\n"s).values, (Values{'#', '\n'}));  // after one character of whitespace, pixels
}

// 258 = 256 + 2: the high byte is the first.
TEST(Pixels, ReadsPgmOfSixteenBits) {
  const Pixels found = read("P5 2 1 65535\n\x01\x02\xFF\xFE"s);
  EXPECT_EQ(found.max, 65535);
  EXPECT_EQ(found.values, (Values{258, 65534}));
}

TEST(Pixels, SaysWhereAPgmIsWrong) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"", "eval: x.pgm is empty, expected a PNG or PGM image"},
      {"P2", "eval: x.pgm:1: the file ends before the width; it was cut short, fetch or write it again"},
      {"P2\n2 x\n", "eval: x.pgm:2: got 'x\\n', expected the height, a whole number"},
      {"P2\n2 -1 5\n", "eval: x.pgm:2: got '-1 5\\n', expected the height, a whole number"},
      {"P5\n0 1\n255\n", "eval: x.pgm:2: got '0' as the width, expected 1 to 1073741824"},
      {"P5\n1 1\n0\n1", "eval: x.pgm:3: got '0' as the maxval, expected 1 to 65535"},
      {"P5\n1 1\n65536\n1", "eval: x.pgm:3: got '65536' as the maxval, expected 1 to 65535"},
      {"P5\n99999999999999999999999 1\n255\n1",
       "eval: x.pgm:2: got '9999999999999999' as the width, expected 1 to 1073741824"},
      {"P5\n1000000000 1000000000\n255\nabc",
       "eval: x.pgm:3: got 4 bytes for 1000000000 x 1000000000 pixels, expected at least 1000000000000000000; the file "
       "was cut short, fetch or write it again"},
      {"P5\n2 2\n255\nabc",
       "eval: x.pgm:3: got 3 bytes of pixels, expected 4; the file was cut short, fetch or write it again"},
      {"P5\n1 1\n255\nab", "eval: x.pgm:4: got 1 bytes after the last pixel, expected one image"},
      {"P5\n1 1\n9\nab", "eval: x.pgm: got 97 as pixel 0, expected 0 to the maxval, 9"},
      {"P2\n2 1\n9\n1 10\n", "eval: x.pgm:4: got '10' as a pixel, expected 0 to 9"},
      {"P2\n2 1\n9\n1 2 3\n", "eval: x.pgm:4: got 2 bytes after the last pixel, expected one image"},
      {"P6 1 1 255 abc", "eval: x.pgm: got a PPM image, expected PNG or PGM; convert it: convert image image.png"},
      {"\xFF\xD8\xFF\xE0 JFIF",
       "eval: x.pgm: got a JPEG image, expected PNG or PGM; convert it: convert image image.png"},
      {"P2P: a text", "eval: x.pgm: got a file that begins with 'P2P: a t', expected a PNG or PGM image"}};
  for (const auto& [bytes, message] : all) EXPECT_EQ(problem_of(bytes), message);
}

TEST(Pixels, KnowsPicturesByTheirBeginning) {
  EXPECT_TRUE(begins_as_picture("P5\n"));
  EXPECT_TRUE(begins_as_picture("\x89PNG\r\n"));
  EXPECT_TRUE(begins_as_picture("GIF89a"));
  EXPECT_FALSE(begins_as_picture("P5.pgm\nother.pgm\n"));
  EXPECT_FALSE(begins_as_picture("BMW.png\n"));
  EXPECT_TRUE(is_called_picture("a/b.PNG"));
  EXPECT_FALSE(is_called_picture("png"));
}

}  // namespace
}  // namespace heed::cli
