// check(condition, parts...): throws Error with the concatenated parts if the condition is false.
//
// For errors of a caller: `layer/part: got what, expected what; cure`. Errors of the library itself are asserted.

#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace heed {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(text.str());
}

template <typename... Parts>
void check(bool fine, const Parts&... parts) {
  if (!fine) fail(parts...);
}

/// "a, b, c". Empty items are kept: ", b".
inline std::string joined(const std::vector<std::string>& items, const std::string& between = ", ") {
  std::string all;
  for (size_t i = 0; i < items.size(); ++i) all += (i == 0 ? "" : between) + items[i];
  return all;
}

}  // namespace heed
