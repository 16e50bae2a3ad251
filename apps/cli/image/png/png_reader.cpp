// PNG by libpng, as the file has it: without gamma, and masks without their colors.

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <png.h>

#include "apps/cli/image/pixels.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"

namespace heed::cli {
namespace {

constexpr int kByteBits = 8;

/// libpng reports errors by a jump to setjmp: the functions that it may leave so have no objects to destroy.
class PngDecoder {
 public:
  explicit PngDecoder(std::string_view bytes)
      : bytes_(bytes), png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning)) {
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }

  /// Reads the header; false after an error.
  bool read_header() {
    if (png_ == nullptr || info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, on_read);
    png_read_info(png_, info_);
    return true;
  }

  /// Replaces palettes and less than 8 bits; false after an error.
  bool prepare(PixelMeaning meaning) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    if (meaning == PixelMeaning::label) {
      png_set_packing(png_);
    } else {
      if (color() == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
      if (color() == PNG_COLOR_TYPE_GRAY && depth() < kByteBits) png_set_expand_gray_1_2_4_to_8(png_);
    }
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

  int64_t width() const { return png_get_image_width(png_, info_); }
  int64_t height() const { return png_get_image_height(png_, info_); }
  int64_t channels() const { return png_get_channels(png_, info_); }
  size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
  int depth() const { return png_get_bit_depth(png_, info_); }
  int color() const { return png_get_color_type(png_, info_); }
  bool is_transparent() const {
    return (color() & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
  }
  const std::string& problem() const { return problem_; }

 private:
  static void on_read(png_structp png, png_bytep to, size_t count) {
    auto& self = *static_cast<PngDecoder*>(png_get_io_ptr(png));
    if (count > self.bytes_.size() - self.at_) png_error(png, "the file was cut short");
    std::memcpy(to, self.bytes_.data() + self.at_, count);
    self.at_ += count;
  }
  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    static_cast<PngDecoder*>(png_get_error_ptr(png))->problem_ = message;
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}

  std::string_view bytes_;
  size_t at_ = 0;
  std::string problem_ = "no memory";
  png_structp png_;
  png_infop info_ = nullptr;
};

[[noreturn]] void refuse_damaged(const std::string& path, const PngDecoder& decoder) {
  fail("eval: ", path, ": the PNG image cannot be read: ", excerpt(decoder.problem()), "; fetch or write it again");
}

void check_colors(const std::string& path, const PngDecoder& decoder, PixelMeaning meaning) {
  if (meaning == PixelMeaning::label) {
    check(decoder.channels() == 1, "eval: ", path, ": got a mask of ", decoder.channels(),
          " channels, expected one: a gray value or a palette entry is a class");
    return;
  }
  check(!decoder.is_transparent(), "eval: ", path,
        ": got an image with transparency, expected gray or RGB; remove it: convert image -alpha off image.png");
}

/// zlib packs at most 1032 bytes into one, so a short file with a large size is none.
void check_packed_size(const std::string& path, const PngDecoder& decoder, size_t bytes) {
  constexpr double kMostPacked = 1032;
  const double unpacked = static_cast<double>(decoder.row_bytes()) * static_cast<double>(decoder.height());
  check(unpacked <= kMostPacked * static_cast<double>(bytes), "eval: ", path, ": got ", bytes, " bytes for ",
        decoder.width(), " x ", decoder.height(), " pixels, expected more; the file was cut short, or is no image");
}

}  // namespace

Pixels read_png(const std::string& path, std::string_view bytes, PixelMeaning meaning) {
  PngDecoder decoder(bytes);
  if (!decoder.read_header()) refuse_damaged(path, decoder);
  check_colors(path, decoder, meaning);
  check_packed_size(path, decoder, bytes.size());
  if (!decoder.prepare(meaning)) refuse_damaged(path, decoder);
  Pixels pixels{decoder.channels(), decoder.height(), decoder.width(), (int64_t{1} << decoder.depth()) - 1, {}};
  check_picture_size(path, pixels.width, pixels.height, pixels.channels);
  std::vector<unsigned char> raster(decoder.row_bytes() * static_cast<size_t>(pixels.height));
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < pixels.height; ++y)
    rows.push_back(raster.data() + static_cast<size_t>(y) * decoder.row_bytes());
  if (!decoder.read_rows(rows.data())) refuse_damaged(path, decoder);
  const bool wide = decoder.depth() > kByteBits;
  pixels.values.resize(raster.size() / (wide ? 2 : 1));
  for (size_t i = 0; i < pixels.values.size(); ++i)
    pixels.values[i] = static_cast<uint16_t>(wide ? raster[2 * i] << 8U | raster[2 * i + 1] : raster[i]);
  return pixels;
}

}  // namespace heed::cli
