// A heat map as a picture.

#pragma once

#include <string>

#include "apps/cli/heat/heat_map.h"

namespace heed::cli {

/// Writes a PNG file: source words above, target words on the left, a scale below, numbers in cells that are large
/// enough. Words are set in the first font that has their characters: the file HEED_FONT, then fonts that distributions
/// install; a character that none has is a box. A build without libpng or FreeType refuses, and says what is missing.
void write_png(const std::string& path, const HeatMap& map);

}  // namespace heed::cli
