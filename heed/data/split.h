// Development and test sets out of the training file, by md5: every example is in exactly one of the three sets, which
// any language can find (base/md5.h).
//
//   data:
//     split: {modulo: 20, dev: [2], test: [1]}

#pragma once

#include <cstdint>
#include <vector>

#include "heed/base/settings.h"

namespace heed {

struct Split {
  int64_t modulo = 0;              // 0: no split
  std::vector<int64_t> dev, test;  // residues of each set

  /// The residues of neither dev nor test.
  std::vector<int64_t> train() const;
};

/// Reads data.split; dev is not empty where there is a split.
Split read_split(const Settings& data);

}  // namespace heed
