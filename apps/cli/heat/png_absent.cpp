// Replaces the folder png in a build without libpng and FreeType (HEED_PNG=OFF).

#include "apps/cli/heat/png/png.h"

#include "heed/base/check.h"

namespace heed::cli {

void write_png(const std::string& path, const HeatMap&) {
  fail("heat map: ", path,
       " was not written, since this build has no libpng or no FreeType (Debian: libpng-dev libfreetype-dev "
       "fonts-wqy-microhei); install them and build again, or write a page with --html");
}

}  // namespace heed::cli
