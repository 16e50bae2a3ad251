#include "apps/cli/heat/png/canvas.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <png.h>
#include <unistd.h>

#include "heed/base/check.h"

namespace heed::cli {

void Canvas::fill(int x, int y, int width, int height, const Rgb& color) {
  for (int i = y; i < y + height; ++i)
    for (int j = x; j < x + width; ++j) blend(j, i, color, 255);
}

void Canvas::blend(int x, int y, const Rgb& color, int cover) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  uint8_t* pixel = pixels_.data() + 3 * (static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x));
  const int parts[] = {color.red, color.green, color.blue};
  for (int k = 0; k < 3; ++k) pixel[k] = static_cast<uint8_t>((pixel[k] * (255 - cover) + parts[k] * cover) / 255);
}

void Canvas::write(const std::string& path) const {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  check(file != nullptr, "heat map: ", path, " cannot be written: ", std::strerror(errno));
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width_);
  image.height = static_cast<png_uint_32>(height_);
  image.format = PNG_FORMAT_RGB;
  const bool written = png_image_write_to_stdio(&image, file.get(), 0, pixels_.data(), 0, nullptr) != 0;
  const bool closed = std::fclose(file.release()) == 0;
  if (written && closed) return;
  const std::string why = written ? std::strerror(errno) : image.message;
  ::unlink(path.c_str());
  fail("heat map: ", path, " was not written: ", why);
}

}  // namespace heed::cli
