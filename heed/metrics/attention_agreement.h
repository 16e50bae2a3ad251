// Agreement of two maps of attention over the same keys: of two heads, layers or seeds.
//
//   JSD, TVD   distribution_distance.h                        from 0 (equal) to log 2, to 1 (no key in common)
//   Spearman's rank correlation of the weights                from -1 to 1
//   top-k overlap   sum_i min(s_i, t_i) / k                   from 0 to 1; s, t: whether key i is among the k largest
//                                                             weights of either map, in part if it is tied for the last
//
// p and q are the weights divided by their sums. JSD and TVD have no value if one map is no distribution
// (attention_distribution.h), Spearman if a map is constant, the overlap if there are no more than k keys. Equal
// weights overlap in k / n of the keys with a map without ties, as random keys do.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace heed {

struct MapAgreement {
  std::optional<double> jsd{}, tvd{}, spearman{}, top_overlap{};
};

/// one, other: finite weights, an element for each key. k: at least 1.
MapAgreement map_agreement(const std::vector<double>& one, const std::vector<double>& other, int64_t k = 5);

}  // namespace heed
