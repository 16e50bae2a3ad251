// check(fine, words...): throws Error with the words joined, unless all is well.
//
// For what a caller may get wrong: `room/part: what it got, what it expected`. What we ourselves may get wrong is
// asserted instead.

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

template <typename... Words>
[[noreturn]] void fail(const Words&... words) {
  std::ostringstream text;
  (text << ... << words);
  throw Error(text.str());
}

template <typename... Words>
void check(bool fine, const Words&... words) {
  if (!fine) fail(words...);
}

/// "a, b, c"; empty items count too: ", b".
inline std::string joined(const std::vector<std::string>& words, const std::string& between = ", ") {
  std::string all;
  for (size_t i = 0; i < words.size(); ++i) all += (i == 0 ? "" : between) + words[i];
  return all;
}

}  // namespace heed
