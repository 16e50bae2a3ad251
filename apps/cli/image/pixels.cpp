#include "apps/cli/image/pixels.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/memory.h"

namespace heed::cli {
namespace {

using namespace std::string_view_literals;

/// How files of a kind begin. A name of another kind than PNG and PGM says what it is.
struct Magic {
  std::string_view begin, name;
};

constexpr std::array kMagic{Magic{"\x89PNG"sv, "PNG"sv}, Magic{"P2"sv, "PGM"sv},   Magic{"P5"sv, "PGM"sv},
                            Magic{"P1"sv, "PBM"sv},      Magic{"P4"sv, "PBM"sv},   Magic{"P3"sv, "PPM"sv},
                            Magic{"P6"sv, "PPM"sv},      Magic{"P7"sv, "PAM"sv},   Magic{"\xFF\xD8\xFF"sv, "JPEG"sv},
                            Magic{"GIF8"sv, "GIF"sv},    Magic{"BM"sv, "BMP"sv},   Magic{"II*\0"sv, "TIFF"sv},
                            Magic{"MM\0*"sv, "TIFF"sv},  Magic{"RIFF"sv, "WebP"sv}};

/// PNM pictures have whitespace or a comment after two letters; a text may begin with the same two.
bool begins_with(std::string_view bytes, const Magic& magic) {
  if (bytes.substr(0, magic.begin.size()) != magic.begin) return false;
  if (magic.begin.size() > 2 || magic.begin[0] != 'P') return true;
  return bytes.size() == 2 || std::isspace(static_cast<unsigned char>(bytes[2])) != 0 || bytes[2] == '#';
}

std::string_view kind_of(std::string_view bytes) {
  const auto* found =
      std::find_if(kMagic.begin(), kMagic.end(), [&](const Magic& magic) { return begins_with(bytes, magic); });
  return found == kMagic.end() ? ""sv : found->name;
}

}  // namespace

bool begins_as_picture(std::string_view bytes) {
  const auto kind = kind_of(bytes);
  return !kind.empty() && kind != "BMP";  // a text may begin with BM
}

bool is_called_picture(const std::string& path) {
  std::string end = path.size() < 4 ? "" : path.substr(path.size() - 4);
  std::transform(end.begin(), end.end(), end.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return end == ".png" || end == ".pgm";
}

void check_picture_size(const std::string& path, int64_t width, int64_t height, int64_t channels) {
  check(width > 0 && height > 0, "eval: ", path, ": got an image of ", width, " x ", height,
        " pixels, expected at least one pixel");
  constexpr double kBytesOfValue = 80;  // of both sides, and of the windows of SSIM
  const double bytes =
      kBytesOfValue * static_cast<double>(width) * static_cast<double>(height) * static_cast<double>(channels);
  const auto limit = static_cast<double>(available_memory()) / 2;
  check(bytes <= limit, "eval: ", path, ": got an image of ", width, " x ", height, " pixels, for which ",
        readable_bytes(bytes), " of memory are needed, expected at most ", readable_bytes(limit),
        ", half of the memory that is free; crop or scale the images");
}

Pixels read_pixels(const std::string& path, std::string_view bytes, PixelMeaning meaning) {
  check(!bytes.empty(), "eval: ", path, " is empty, expected a PNG or PGM image");
  const auto kind = kind_of(bytes);
  if (kind == "PNG") return read_png(path, bytes, meaning);
  if (kind == "PGM") return read_pgm(path, bytes);
  constexpr size_t kShown = 8;
  check(!kind.empty(), "eval: ", path, ": got a file that begins with '", excerpt(bytes.substr(0, kShown)),
        "', expected a PNG or PGM image");
  fail("eval: ", path, ": got a ", kind, " image, expected PNG or PGM; convert it: convert image image.png");
}

}  // namespace heed::cli
