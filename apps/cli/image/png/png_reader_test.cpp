// PNG of each kind of pixels, in the bytes that Pillow writes, and damaged ones.

#include <cstdlib>

#include "apps/cli/image/pixels.h"
#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed::cli {
namespace {

using Values = std::vector<uint16_t>;

constexpr const char
    *kGray =
        "89504e470d0a1a0a0000000d494844520000000200000002080000000057dd52f80000000e49444154789c63606064f8f71f00030"
        "501ff580960b30000000049454e44ae426082",
    *kRgb =
        "89504e470d0a1a0a0000000d49484452000000020000000108020000007b40e8dd0000000f49444154789c636464626666660600003"
        "c0011d57e46e60000000049454e44ae426082",
    *kSixteenBits =
        "89504e470d0a1a0a0000000d494844520000000200000001100000000081d9fc150000000d49444154789c636064faff1f00"
        "030c02021b01adb70000000049454e44ae426082",
    *kPalette =
        "89504e470d0a1a0a0000000d4948445200000002000000010203000000894c971900000009504c5445090807060504030201ef2e"
        "6dd70000000a49444154789c63980000009200911222fb7b0000000049454e44ae426082",
    *kFourBits =
        "89504e470d0a1a0a0000000d494844520000000200000001040000000014b9cd570000000a49444154789c63b007000041004"
        "08d6ed5130000000049454e44ae426082",
    *kTransparent =
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63606060600000"
        "00050001a5f645400000000049454e44ae426082";

std::string bytes_of(const std::string& hex) {
  std::string all;
  for (size_t i = 0; i < hex.size(); i += 2)
    all += static_cast<char>(std::strtol(hex.substr(i, 2).c_str(), nullptr, 16));
  return all;
}

Pixels read(const char* hex, PixelMeaning meaning = PixelMeaning::brightness) {
  return read_pixels("x.png", bytes_of(hex), meaning);
}

std::string problem_of(const std::string& bytes, PixelMeaning meaning = PixelMeaning::brightness) {
  try {
    read_pixels("x.png", bytes, meaning);
  } catch (const Error& error) {
    return error.what();
  }
  return "no problem";
}

TEST(PngReader, ReadsGrayAndRgb) {
  EXPECT_EQ(read(kGray).values, (Values{0, 1, 254, 255}));
  EXPECT_EQ(read(kGray).width, 2);
  EXPECT_EQ(read(kGray).max, 255);
  EXPECT_EQ(read(kRgb).channels, 3);
  EXPECT_EQ(read(kRgb).values, (Values{1, 2, 3, 4, 5, 6}));
}

TEST(PngReader, ReadsSixteenBits) {
  EXPECT_EQ(read(kSixteenBits).values, (Values{258, 65535}));
  EXPECT_EQ(read(kSixteenBits).max, 65535);
}

// The palette is (9 8 7), (6 5 4), (3 2 1); the pixels are its entries 2 and 1.
TEST(PngReader, ReadsAPaletteAsColorsOrAsClasses) {
  EXPECT_EQ(read(kPalette).values, (Values{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(read(kPalette, PixelMeaning::label).values, (Values{2, 1}));
}

// 3 and 15 of 15: brightness is spread over 0 .. 255, a class is not.
TEST(PngReader, SpreadsFewerBitsUnlessTheyAreClasses) {
  EXPECT_EQ(read(kFourBits).values, (Values{51, 255}));
  EXPECT_EQ(read(kFourBits, PixelMeaning::label).values, (Values{3, 15}));
}

TEST(PngReader, RefusesColorsThatMeanNothing) {
  EXPECT_EQ(problem_of(bytes_of(kTransparent)),
            "eval: x.png: got an image with transparency, expected gray or RGB; remove it: convert image -alpha off "
            "image.png");
  EXPECT_EQ(problem_of(bytes_of(kRgb), PixelMeaning::label),
            "eval: x.png: got a mask of 3 channels, expected one: a gray value or a palette entry is a class");
}

TEST(PngReader, RefusesEveryBeginningOfAFile) {
  const std::string whole = bytes_of(kGray);
  for (size_t length = 8; length < whole.size(); ++length)
    EXPECT_EQ(problem_of(whole.substr(0, length)),
              "eval: x.png: the PNG image cannot be read: the file was cut short; fetch or write it again")
        << length;
}

TEST(PngReader, RefusesEveryChangedByteOfTheDataAndHeader) {
  const std::string whole = bytes_of(kGray);
  for (size_t at = 8; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x15);
    EXPECT_NE(problem_of(changed), "no problem") << at;
  }
}

// A header of 900000 x 900000 pixels, with the right checksum.
TEST(PngReader, RefusesASizeThatTheFileCannotHave) {
  std::string whole = bytes_of(kGray);
  const std::string side("\x00\x0D\xBB\xA0", 4);
  whole.replace(16, 8, side + side);
  whole.replace(29, 4, bytes_of("f5d6ce53"));
  EXPECT_EQ(problem_of(whole),
            "eval: x.png: got 71 bytes for 900000 x 900000 pixels, expected more; the file was cut short, or is no "
            "image");
}

}  // namespace
}  // namespace heed::cli
