// Pictures from files, as they are stored: gray or RGB values, or the classes of a mask.
//
//   PGM   P2 (text) and P5 (bytes), maxval up to 65535, comments
//   PNG   1 to 16 bits, with libpng (HEED_PNG)
//
// A class of a mask is the gray value or the number in the palette, whatever color it has, as in Pascal VOC.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

enum class PixelMeaning {
  brightness,  // gray or RGB; a palette is replaced by its colors, gray of 1, 2 or 4 bits is spread to 0 .. 255
  label        // one class for each pixel
};

struct Pixels {
  int64_t channels = 1, height = 0, width = 0;
  int64_t max = 255;             // the largest value that the file could have: 255 for 8 bits
  std::vector<uint16_t> values;  // [height][width][channels]
};

/// The picture in a file with these bytes. Anything else than one whole picture is an Error that names the path.
Pixels read_pixels(const std::string& path, std::string_view bytes, PixelMeaning meaning);

/// Whether the bytes begin as a picture, of the kinds above or others; whether the path ends as one.
bool begins_as_picture(std::string_view bytes);
bool is_called_picture(const std::string& path);

// For the readers:

/// Refuses a picture without pixels, and one that would not fit into the memory.
void check_picture_size(const std::string& path, int64_t width, int64_t height, int64_t channels);

Pixels read_pgm(const std::string& path, std::string_view bytes);
Pixels read_png(const std::string& path, std::string_view bytes, PixelMeaning meaning);

}  // namespace heed::cli
