// Heat maps, and texts with weights, as one HTML page that works offline.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/heat/heat_map.h"
#include "apps/cli/heat/text_map.h"

namespace heed::cli {

/// A self-contained HTML file: the maps as JSON, a list to choose a map from, the words and the weight under the
/// pointer, light and dark mode. Words may contain any text; it is escaped.
/// Texts come first, each word on the color of its weight, which the pointer shows; they need no script.
std::string html_page(const std::string& title, const std::vector<HeatMap>& maps,
                      const std::vector<TextMap>& texts = {});

}  // namespace heed::cli
