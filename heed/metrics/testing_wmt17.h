// For tests: files of WMT17, English to German, from the folder mt-metric-fixtures of the data; HEED_DATA names it.

#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <zlib.h>

namespace heed::testing {

inline constexpr const char* kNoWmt17 = "mt-metric-fixtures is not there; HEED_DATA names the folder of data";

/// Lines of a gzip file; empty if the file does not exist.
inline std::vector<std::string> wmt17(const std::string& name) {
  const char* given = std::getenv("HEED_DATA");
  const std::string path = std::string(given != nullptr ? given : "../shared/data") + "/mt-metric-fixtures/" + name;
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(path.c_str(), "rb"), &gzclose);
  if (file == nullptr) return {};
  std::string text(1 << 20, '\0');
  size_t size = 0;
  for (int got = 1; got > 0; size += static_cast<size_t>(got)) {
    text.resize(size + (1 << 20));
    got = std::max(0, gzread(file.get(), text.data() + size, 1 << 20));
  }
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < size;) {
    const size_t end = std::min(text.find('\n', begin), size);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace heed::testing
