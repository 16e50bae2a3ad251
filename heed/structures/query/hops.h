// Hops that share their parameters, or have parameters of their own.

#pragma once

#include <string>
#include <vector>

#include "heed/base/check.h"

namespace heed {

/// make("_1"), make("_2"), ... for as many hops; where they are tied, make("") once, and the same for each hop.
template <typename Make>
auto for_each_hop(int64_t hops, bool tied, Make make) {
  std::vector<decltype(make(std::string()))> all;
  for (int64_t hop = 1; hop <= hops; ++hop)
    all.push_back(tied && hop > 1 ? all.front() : make(tied ? "" : "_" + std::to_string(hop)));
  return all;
}

/// Modules of one kind in a structure at most: hops, layers, levels, inputs. More only take minutes to make.
inline constexpr int64_t kMaxRepeats = 256;

inline int64_t checked_repeats(const std::string& structure, const std::string& option, int64_t count) {
  check(count >= 1 && count <= kMaxRepeats, structure, ": ", option, " is ", count, ", expected 1 to ", kMaxRepeats);
  return count;
}

inline int64_t checked_hops(const std::string& structure, int64_t hops) {
  return checked_repeats(structure, "hops", hops);
}

}  // namespace heed
