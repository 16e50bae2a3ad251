// Alignment error rate (Och & Ney, 2003) of links A against gold links: sure links S, a subset of the possible links P.
// Counts are summed over the corpus.
//
//   AER = 1 - (|A & S| + |A & P|) / (|A| + |S|),   precision = |A & P| / |A|,   recall = |A & S| / |S|

#pragma once

#include <cstdint>
#include <vector>

#include "heed/base/links.h"

namespace heed {

struct AlignmentError {
  double error = 0, precision = 0, recall = 0;  // 0 where the denominator is 0
  int64_t links = 0, sure = 0, possible = 0;    // |A|, |S|, |P|
  int64_t sure_hits = 0, possible_hits = 0;     // |A & S|, |A & P|
};

/// links, gold: one element per sentence pair, same size. Duplicate links count once. A sure link is also possible.
AlignmentError alignment_error(const std::vector<Links>& links, const std::vector<Links>& gold);

}  // namespace heed
