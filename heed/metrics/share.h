// part / whole, 0 where the whole is 0.

#pragma once

#include <cstdint>

namespace heed {

inline double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace heed
