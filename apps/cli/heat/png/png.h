// A heat map, or a text with weights, as PNG.

#pragma once

#include <string>

#include "apps/cli/heat/heat_map.h"
#include "apps/cli/heat/text_map.h"

namespace heed::cli {

/// Writes a PNG file: source words above, target words on the left, a scale below, numbers in cells that are large
/// enough. Each character uses the first font that has it: the file HEED_FONT, then fonts that distributions install; a
/// character in no font is drawn as a box. Throws in a build without libpng and FreeType.
void write_png(const std::string& path, const HeatMap& map);

/// The text in lines as on a page, each word on the color of its weight, with its percentage below.
void write_png(const std::string& path, const TextMap& map);

}  // namespace heed::cli
