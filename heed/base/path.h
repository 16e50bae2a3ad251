// File paths by POSIX calls. std::filesystem is not used anywhere: it was seen to crash next to the libtorch of a
// Python wheel, which contains these symbols of another libstdc++.

#pragma once

#include <cstdlib>
#include <memory>
#include <string>

namespace heed {

/// The path with symbolic links resolved, or unchanged if there is no such file.
inline std::string without_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found(::realpath(path.c_str(), nullptr), &std::free);
  return found ? found.get() : path;
}

/// What follows the last slash: "data/train.tsv:17" -> "train.tsv:17".
inline std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace heed
