// Words as pixels, in any script, at any angle.

#pragma once

#include <functional>
#include <memory>
#include <string>

namespace heed::cli {

/// Sets words in the fonts of this machine: the file HEED_FONT, then those that distributions install. A character is
/// taken from the first font that has it, and is a box where none has it.
class Type {
 public:
  Type();
  ~Type();

  /// Advance of the text at a size in pixels, as wide as it will be drawn.
  int width(const std::string& text, int size);

  /// The text, or as much of it as goes into so many pixels with "…" after it.
  std::string fitted(const std::string& text, int size, int max);

  /// Calls ink(x, y, cover) with cover 1 to 255 for each pixel of the text, whose baseline begins at (x, y) and rises
  /// by `degrees`.
  using Ink = std::function<void(int x, int y, int cover)>;
  void draw(const std::string& text, int size, int x, int y, double degrees, const Ink& ink);

 private:
  class Fonts;
  std::unique_ptr<Fonts> fonts_;
};

}  // namespace heed::cli
