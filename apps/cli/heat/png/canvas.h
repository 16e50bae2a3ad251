// Pixels to draw on, and to write as a PNG file.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/screen.h"

namespace heed::cli {

constexpr Rgb kPaper{255, 255, 255}, kInk{32, 32, 32};

/// White at first.
class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width), height_(height), pixels_(static_cast<size_t>(width) * static_cast<size_t>(height) * 3, 255) {}

  void fill(int x, int y, int width, int height, const Rgb& color);
  /// cover: opacity; 0 leaves the pixel, 255 replaces it. Nothing happens beyond the edges.
  void blend(int x, int y, const Rgb& color, int cover);
  /// Throws Error, and leaves no file, if it cannot be written completely.
  void write(const std::string& path) const;

  int width() const { return width_; }
  int height() const { return height_; }

 private:
  int width_, height_;
  std::vector<uint8_t> pixels_;  // rows of red, green, blue
};

}  // namespace heed::cli
