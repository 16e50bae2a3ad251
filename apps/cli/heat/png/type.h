// Text rendering in any script, at any angle.

#pragma once

#include <functional>
#include <memory>
#include <string>

namespace heed::cli {

/// Renders text with the fonts of this machine: the file HEED_FONT, then fonts that distributions install. Each
/// character uses the first font that has it, or a box if none has it.
class Type {
 public:
  Type();
  ~Type();

  /// Width of the text in pixels at a font size in pixels.
  int width(const std::string& text, int size);

  /// The text, shortened to at most `max` pixels with "…" at the end.
  std::string fitted(const std::string& text, int size, int max);

  /// Calls ink(x, y, cover) with cover 1 to 255 for each pixel of the text, whose baseline starts at (x, y) and rises
  /// at an angle of `degrees`.
  using Ink = std::function<void(int x, int y, int cover)>;
  void draw(const std::string& text, int size, int x, int y, double degrees, const Ink& ink);

 private:
  class Fonts;
  std::unique_ptr<Fonts> fonts_;
};

}  // namespace heed::cli
