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

inline int64_t checked_hops(const std::string& structure, int64_t hops) {
  check(hops >= 1, structure, ": hops is ", hops, ", expected at least 1");
  return hops;
}

}  // namespace heed
