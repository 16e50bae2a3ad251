#include "apps/cli/heat/png/png.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <png.h>
#include <unistd.h>

#include "apps/cli/heat/png/layout.h"
#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed::cli {

bool operator==(const Rgb& a, const Rgb& b) {
  return a.red == b.red && a.green == b.green && a.blue == b.blue;
}
void PrintTo(const Rgb& color, std::ostream* out) {
  *out << color.red << ' ' << color.green << ' ' << color.blue;
}

namespace {

/// The pixels of a written file, decoded by libpng.
class Pixels {
 public:
  explicit Pixels(const HeatMap& map) {
    const std::string path = testing::TempDir() + "heed_heat_" + std::to_string(::getpid()) + ".png";
    write_png(path, map);
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0) << image.message;
    image.format = PNG_FORMAT_RGB;
    bytes_.resize(PNG_IMAGE_SIZE(image));
    EXPECT_NE(png_image_finish_read(&image, nullptr, bytes_.data(), 0, nullptr), 0) << image.message;
    width = static_cast<int>(image.width);
    height = static_cast<int>(image.height);
    ::unlink(path.c_str());
  }

  Rgb at(int x, int y) const {
    const uint8_t* pixel =
        bytes_.data() + 3 * (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x));
    return {pixel[0], pixel[1], pixel[2]};
  }
  /// Pixels of a rectangle that are not white.
  int inked(int left, int top, int right, int bottom) const {
    int count = 0;
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x) count += !(at(x, y) == Rgb{255, 255, 255});
    return count;
  }

  int width = 0, height = 0;

 private:
  std::vector<uint8_t> bytes_;
};

const HeatMap kTom{"Tom chases Jerry",
                   {"Tom", "chases", "Jerry"},
                   {"汤姆", "追逐", "杰瑞"},
                   {{0.97, 0.02, 0.01}, {0.03, 0.9, 0.07}, {0, 0.25, 0.75}}};

class HeatMapAsPng : public testing::Test {
 protected:
  void SetUp() override {
    try {
      const Type type;
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_F(HeatMapAsPng, HasTheColorOfEachWeight) {
  const Pixels pixels(kTom);
  Type type;
  const auto at = layout_of(kTom, type);
  EXPECT_EQ(pixels.width, at.width);
  EXPECT_EQ(pixels.height, at.height);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      EXPECT_EQ(pixels.at(at.left + j * at.cell + 1, at.top + i * at.cell + 1),
                heat_color(kTom.weights[static_cast<size_t>(i)][static_cast<size_t>(j)]));
  EXPECT_EQ(pixels.at(at.left, at.scale_top), heat_color(0));
  EXPECT_EQ(pixels.at(at.left + kScaleWidth - 1, at.scale_top), heat_color(1));
}

TEST_F(HeatMapAsPng, WritesWordsAndNumbers) {
  const Pixels pixels(kTom);
  Type type;
  const auto at = layout_of(kTom, type);
  EXPECT_GT(pixels.inked(0, at.top, at.left, at.top + at.cell), 50);  // 汤姆
  EXPECT_GT(pixels.inked(at.left, kEdge + 2 * kTitleLetters, at.width, at.top), 100);
  const auto differing = [&](int i, int j) {
    int count = 0;
    const Rgb back = heat_color(kTom.weights[static_cast<size_t>(i)][static_cast<size_t>(j)]);
    for (int y = 0; y < at.cell - 1; ++y)
      for (int x = 0; x < at.cell - 1; ++x)
        count += !(pixels.at(at.left + j * at.cell + x, at.top + i * at.cell + y) == back);
    return count;
  };
  EXPECT_GT(differing(0, 0), 30);  // 0.97
  EXPECT_EQ(differing(2, 0), 0);   // 0.00 is not written
}

TEST_F(HeatMapAsPng, StaysInBoundsWithAnyText) {
  HeatMap map{std::string(500, 'x'),
              {std::string(300, 'w'), "\xff\n", "गु"},
              {"很长很长很长很长很长很长很长很长很长很长的词"},
              {{std::nan(""), -3, INFINITY}}};
  const Pixels pixels(map);
  Type type;
  const auto at = layout_of(map, type);
  EXPECT_LT(pixels.width, 1000);
  EXPECT_EQ(pixels.at(at.left + 1, at.top + 1), heat_color(std::nan("")));
  EXPECT_EQ(pixels.at(at.left + at.cell + 1, at.top + 1), heat_color(0));
  EXPECT_EQ(pixels.at(at.left + 2 * at.cell + 1, at.top + 1), heat_color(1));
  EXPECT_EQ(pixels.inked(0, 0, pixels.width, 4) + pixels.inked(pixels.width - 4, 0, pixels.width, pixels.height), 0);
}

TEST_F(HeatMapAsPng, DrawsMapsOfAnySize) {
  EXPECT_GT(Pixels({"one", {"a"}, {"b"}, {{1}}}).width, 0);
  EXPECT_GT(Pixels({"nothing", {}, {}, {}}).inked(0, 0, 200, 60), 50);
  HeatMap large;
  large.columns.assign(300, "word");
  large.rows.assign(300, "词");
  large.weights.assign(300, std::vector<double>(300, 0.5));
  const Pixels pixels(large);
  EXPECT_LT(pixels.width, 1500);
  EXPECT_LT(pixels.height, 1500);
}

TEST_F(HeatMapAsPng, RotatesText) {
  Type type;
  const int length = type.width("Jerry", 20);
  int right = 0, top = 0;
  type.draw("Jerry", 20, 0, 0, 90, [&](int x, int y, int) {
    right = std::max(right, x);
    top = std::min(top, y);
  });
  EXPECT_NEAR(-top, length, 4);
  EXPECT_LT(right, 10);
}

TEST_F(HeatMapAsPng, SaysWhyItCouldNotBeWritten) {
  try {
    write_png("/nowhere/map.png", kTom);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "heat map: /nowhere/map.png cannot be written: No such file or directory");
  }
  setenv("HEED_FONT", "/nowhere/font.ttf", 1);
  EXPECT_THROW(Type{}, Error);
  unsetenv("HEED_FONT");
}

TEST_F(HeatMapAsPng, WritesItsNoteBelowTheScale) {
  HeatMap map = kTom;
  for (int i = 0; i < 20; ++i) map.note += "decides nothing ";
  const Pixels with(map), without(kTom);
  Type type;
  const auto at = layout_of(map, type);
  EXPECT_GT(at.note.size(), 2U);
  for (const auto& line : at.note) EXPECT_LE(type.width(line, kScaleLetters), at.width - 2 * kEdge);
  EXPECT_EQ(with.height, without.height + note_height(at.note));
  EXPECT_GT(with.inked(0, note_top(at.scale_top), with.width, with.height), 300);
  EXPECT_EQ(with.inked(0, with.height - kEdge + kGap, with.width, with.height), 0);
}

TEST_F(HeatMapAsPng, WritesTheNoteOfAText) {
  TextMap map{"title", "", {{.words = {"a", "b"}, .weights = {0.25, 0.75}}}};
  const std::string path = testing::TempDir() + "heed_text_" + std::to_string(::getpid()) + ".png";
  const auto height = [&] {
    write_png(path, map);
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0) << image.message;
    const int rows = static_cast<int>(image.height);
    png_image_free(&image);
    ::unlink(path.c_str());
    return rows;
  };
  const int without = height();
  map.note = "two lines of a note: " + std::string(60, 'w') + " " + std::string(60, 'w');
  EXPECT_GE(height(), without + 2 * kScaleLetters);
}

}  // namespace
}  // namespace heed::cli
