// Replaces the folder png in a build without libpng (HEED_PNG=OFF).

#include "apps/cli/image/pixels.h"

#include "heed/base/check.h"

namespace heed::cli {

Pixels read_png(const std::string& path, std::string_view, PixelMeaning) {
  fail("eval: ", path,
       ": got a PNG image, expected PGM: this build has no PNG support; convert it: convert image.png "
       "image.pgm, or install libpng (Debian: libpng-dev) and build with HEED_PNG=ON");
}

}  // namespace heed::cli
