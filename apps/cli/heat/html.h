// Heat maps as one page that opens offline in any browser.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/heat/heat_map.h"

namespace heed::cli {

/// A whole HTML file, with nothing to fetch: the maps as JSON, a list to choose from, the source and the target, the
/// words and the number under the pointer, in light and dark. Any text may stand in the words.
std::string html_page(const std::string& title, const std::vector<HeatMap>& maps);

}  // namespace heed::cli
