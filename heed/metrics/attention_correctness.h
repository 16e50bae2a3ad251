// Attention correctness (Liu C. et al., 2017): the share of the weights on the keys G that a person attends to.
//
//   AC = sum_{i in G} a_i / sum_i a_i,   from 0 to 1
//
// Equal weights have |G| / n. There is no correctness without a key in G, and of weights that are no distribution
// (attention_distribution.h).

#pragma once

#include <optional>
#include <vector>

namespace heed {

/// weights, gold: an element for each key.
std::optional<double> attention_correctness(const std::vector<double>& weights, const std::vector<bool>& gold);

}  // namespace heed
