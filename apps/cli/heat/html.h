// Heat maps as one HTML page that works offline.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/heat/heat_map.h"

namespace heed::cli {

/// A self-contained HTML file: the maps as JSON, a list to choose a map from, the words and the weight under the
/// pointer, light and dark mode. Words may contain any text; it is escaped.
std::string html_page(const std::string& title, const std::vector<HeatMap>& maps);

}  // namespace heed::cli
