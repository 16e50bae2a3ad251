// Where the parts of a heat map lie in its picture, in pixels.

#pragma once

#include "apps/cli/heat/heat_map.h"
#include "apps/cli/heat/png/type.h"

namespace heed::cli {

struct Layout {
  int width = 0, height = 0;  // of the picture
  int left = 0, top = 0;      // the corner of the first cell
  int cell = 0;               // the side of one
  int letters = 0;            // the size of the words
  int every = 1;              // of so many words one is written: lines of text must not touch
  double degrees = 0;         // by which source words rise
  int scale_top = 0;          // of the bar below
};

constexpr int kEdge = 16, kGap = 6, kTitleLetters = 18, kScaleLetters = 12, kScaleHeight = 14, kScaleWidth = 220;

/// The word, cut where it is longer than labels may be.
std::string label_of(const std::string& word, Type& type, int letters);

Layout layout_of(const HeatMap& map, Type& type);

}  // namespace heed::cli
