// Attention weights a_1 ... a_n of one query as a distribution p, and how many keys it attends to.
//
//   p_i = a_i / sum_j a_j
//   entropy H = -sum_i p_i log p_i          natural logarithm, 0 log 0 = 0; from 0 to log n
//   effective support exp(H)                from 1 (one key) to n (equal weights)
//   of the number of keys: H / log n, from 0 to 1, and exp(H) / n, from 1 / n to 1
//
// Weights that are no distribution have no entropy: none at all, a negative one (identity alignment), or a sum of 0
// (all keys masked, sparse weights that are all 0). H / log n has no value for a single key.

#pragma once

#include <optional>
#include <vector>

namespace heed {

/// The weights divided by their sum; nothing if they are no distribution. Throws Error for NaN and infinite weights.
std::optional<std::vector<double>> distribution(const std::vector<double>& weights);

struct AttentionSpread {
  std::optional<double> entropy{}, relative_entropy{};  // H, H / log n
  std::optional<double> support{}, relative_support{};  // exp(H), exp(H) / n
};

AttentionSpread attention_spread(const std::vector<double>& weights);

}  // namespace heed
