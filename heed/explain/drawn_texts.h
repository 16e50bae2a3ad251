// Which texts of a set are explained, if not all of them.

#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "heed/base/shuffle.h"
#include "heed/explain/explained.h"

namespace heed {

/// Indices of set.limit of `count` texts, drawn by seed, ascending; of all if the limit is 0.
inline std::vector<size_t> drawn_texts(size_t count, const ExplainedSet& set) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  if (set.limit == 0 || static_cast<size_t>(set.limit) >= count) return all;
  SplitMix random(set.seed);
  shuffle(all, random);
  all.resize(static_cast<size_t>(set.limit));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace heed
