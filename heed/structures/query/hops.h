// Hops with shared (tied) or separate parameters.

#pragma once

#include <string>
#include <vector>

#include "heed/base/check.h"

namespace heed {

/// Returns {make("_1"), make("_2"), ...}, one for each hop; if tied, calls make("") once and repeats its result.
template <typename Make>
auto for_each_hop(int64_t hops, bool tied, Make make) {
  std::vector<decltype(make(std::string()))> all;
  for (int64_t hop = 1; hop <= hops; ++hop)
    all.push_back(tied && hop > 1 ? all.front() : make(tied ? "" : "_" + std::to_string(hop)));
  return all;
}

/// Upper limit for hops, layers, levels and inputs of a structure. Larger numbers take minutes to construct.
inline constexpr int64_t kMaxRepeats = 256;

/// Returns count. Throws Error unless 1 <= count <= kMaxRepeats.
inline int64_t checked_repeats(const std::string& structure, const std::string& option, int64_t count) {
  check(count >= 1 && count <= kMaxRepeats, structure, ": ", option, " is ", count, ", expected 1 to ", kMaxRepeats);
  return count;
}

inline int64_t checked_hops(const std::string& structure, int64_t hops) {
  return checked_repeats(structure, "hops", hops);
}

}  // namespace heed
