// Replaces the folder png in a build without libpng and FreeType (HEED_PNG=OFF).

#include "apps/cli/heat/png/png.h"

#include "heed/base/check.h"

namespace heed::cli {

namespace {

[[noreturn]] void refuse(const std::string& path) {
  fail("heat map: ", path,
       " was not written: this build has no PNG support; install libpng and FreeType (Debian: libpng-dev "
       "libfreetype-dev fonts-wqy-microhei) and build with HEED_PNG=ON, or use --html");
}

}  // namespace

void write_png(const std::string& path, const HeatMap&) {
  refuse(path);
}

void write_png(const std::string& path, const TextMap&) {
  refuse(path);
}

}  // namespace heed::cli
