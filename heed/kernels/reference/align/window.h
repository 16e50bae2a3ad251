// Windows of keys, for definitions of local alignments.

#pragma once

#include <cstdlib>

#include "heed/base/check.h"
#include "heed/kernels/reference/align/soft.h"

namespace heed::kernels::reference {

/// The keys within `reach` of the center: the window is clipped at both ends, never shifted.
template <typename Real>
List<uint8_t> window(const ScoreRow<Real>& row, int64_t center, int64_t reach) {
  List<uint8_t> inside;
  for (const int64_t key : row.keys) inside.push_back(std::abs(key - center) <= reach);
  return inside;
}

inline int64_t read_window(const Options& options) {
  const int64_t reach = options.integer("window", 10);
  check(reach >= 0, options.part(), ": window is ", reach, ", expected 0 or more");
  return reach;
}

}  // namespace heed::kernels::reference
