// Files by POSIX calls. std::filesystem is not used anywhere: beside the libtorch of a Python wheel, which carries that
// part of another libstdc++, it was seen to crash.

#pragma once

#include <cstdlib>
#include <memory>
#include <string>

namespace heed {

/// The same file without links on the way, or the path as it is where there is no such file.
inline std::string without_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found(::realpath(path.c_str(), nullptr), &std::free);
  return found ? found.get() : path;
}

}  // namespace heed
