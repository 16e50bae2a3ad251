// PGM, the gray images of Netpbm: P2 with numbers, P5 with bytes (two for a pixel, the high one first, if maxval >
// 255).
//
//   P5 <width> <height> <maxval> <one character of whitespace> <pixels>      # starts a comment, up to the end of its
//   line

#include <algorithm>
#include <cctype>

#include "apps/cli/image/pixels.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"

namespace heed::cli {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 30U, kMaxValue = 65535, kMaxByte = 255;

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// The parts of a file, from its third byte on, and messages with the line.
class PgmText {
 public:
  PgmText(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes) {}

  /// The next number; name: what it is.
  int64_t number(const std::string& name, int64_t min, int64_t max) {
    skip_whitespace();
    const size_t begin = at_;
    int64_t value = 0;
    for (; at_ < bytes_.size() && is_digit(bytes_[at_]); ++at_)
      value = std::min(10 * value + (bytes_[at_] - '0'), max + 1);  // beyond max, its digits do not matter
    if (begin == bytes_.size()) refuse("the file ends before ", name, "; it was cut short, fetch or write it again");
    if (begin == at_) refuse("got '", excerpt(bytes_.substr(begin, kShown)), "', expected ", name, ", a whole number");
    if (value < min || value > max)
      refuse("got '", excerpt(bytes_.substr(begin, std::min(at_ - begin, kShown))), "' as ", name, ", expected ", min,
             " to ", max);
    return value;
  }

  /// The bytes of pixels: those after one character of whitespace.
  std::string_view raster(size_t count) {
    if (at_ == bytes_.size() || !is_space(bytes_[at_]))
      refuse("got no whitespace after the maxval, expected one character of it before the pixels");
    const auto bytes = bytes_.substr(at_ + 1);
    if (bytes.size() < count)
      refuse("got ", bytes.size(), " bytes of pixels, expected ", count,
             "; the file was cut short, fetch or write it again");
    at_ += 1 + count;
    return bytes.substr(0, count);
  }

  void expect_end() {
    skip_whitespace();
    if (at_ < bytes_.size()) refuse("got ", bytes_.size() - at_, " bytes after the last pixel, expected one image");
  }

  size_t left() const { return bytes_.size() - at_; }

  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    const auto read = bytes_.substr(0, std::min(at_, bytes_.size()));
    fail("eval: ", path_, ":", 1 + std::count(read.begin(), read.end(), '\n'), ": ", parts...);
  }

 private:
  static constexpr size_t kShown = 16;

  void skip_whitespace() {
    while (at_ < bytes_.size() && (is_space(bytes_[at_]) || bytes_[at_] == '#'))
      at_ = bytes_[at_] == '#' ? std::min(bytes_.find('\n', at_), bytes_.size()) : at_ + 1;
  }

  const std::string& path_;
  std::string_view bytes_;
  size_t at_ = 2;
};

}  // namespace

Pixels read_pgm(const std::string& path, std::string_view bytes) {
  const bool is_text = bytes.substr(0, 2) == "P2";
  PgmText text(path, bytes);
  Pixels pixels;
  pixels.width = text.number("the width", 1, kMaxSide);
  pixels.height = text.number("the height", 1, kMaxSide);
  pixels.max = text.number("the maxval", 1, kMaxValue);
  const auto count = static_cast<uint64_t>(pixels.width) * static_cast<uint64_t>(pixels.height);  // up to 2^60
  const uint64_t bytes_of_pixel = is_text || pixels.max > kMaxByte ? 2 : 1;                       // a digit and a space
  if (text.left() < count * bytes_of_pixel)
    text.refuse("got ", text.left(), " bytes for ", pixels.width, " x ", pixels.height, " pixels, expected at least ",
                count * bytes_of_pixel, "; the file was cut short, fetch or write it again");
  check_picture_size(path, pixels.width, pixels.height, 1);
  pixels.values.resize(count);
  if (is_text) {
    for (auto& value : pixels.values) value = static_cast<uint16_t>(text.number("a pixel", 0, pixels.max));
  } else {
    const auto raster = text.raster(count * bytes_of_pixel);
    for (size_t i = 0; i < count; ++i) {
      const auto first = static_cast<unsigned char>(raster[i * bytes_of_pixel]);
      const auto last = static_cast<unsigned char>(raster[(i + 1) * bytes_of_pixel - 1]);
      const int64_t value = bytes_of_pixel == 1 ? last : (int64_t{first} << 8U) + last;
      check(value <= pixels.max, "eval: ", path, ": got ", value, " as pixel ", i, ", expected 0 to the maxval, ",
            pixels.max);
      pixels.values[i] = static_cast<uint16_t>(value);
    }
  }
  text.expect_end();
  return pixels;
}

}  // namespace heed::cli
