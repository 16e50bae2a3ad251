// Layout of a heat map as a picture, in pixels.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/heat/heat_map.h"
#include "apps/cli/heat/png/type.h"

namespace heed::cli {

struct Layout {
  int width = 0, height = 0;        // size of the picture
  int left = 0, top = 0;            // top left corner of the first cell
  int cell = 0;                     // side of a cell
  int letters = 0;                  // font size of the words
  int every = 1;                    // labels every n-th word, so that lines of text do not touch
  double degrees = 0;               // rotation of the source words
  int scale_top = 0;                // top of the color scale
  std::vector<std::string> note{};  // lines below the scale
};

constexpr int kEdge = 16, kGap = 6, kTitleLetters = 18, kScaleLetters = 12, kScaleHeight = 14, kScaleWidth = 220;

/// The word, shortened to the maximum width of a label.
std::string label_of(const std::string& word, Type& type, int letters);

Layout layout_of(const HeatMap& map, Type& type);

/// The words in lines of at most `width` pixels.
std::vector<std::string> lines_of(const std::string& text, Type& type, int letters, int width);
/// Width that a note below a map asks for, and the height of its lines.
int note_width(const std::string& note, Type& type);
int note_height(const std::vector<std::string>& lines);
/// Top of the lines below a scale.
int note_top(int scale_top);

}  // namespace heed::cli
