#include "heed/metrics/attention_correctness.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/metrics/attention_distribution.h"

namespace heed {

std::optional<double> attention_correctness(const std::vector<double>& weights, const std::vector<bool>& gold) {
  check(weights.size() == gold.size(), "metrics/attention_correctness: got ", weights.size(), " weights and ",
        gold.size(), " gold values, expected equal numbers");
  const auto shares = distribution(weights);
  if (!shares || std::find(gold.begin(), gold.end(), true) == gold.end()) return std::nullopt;
  double sum = 0;
  for (size_t i = 0; i < gold.size(); ++i)
    if (gold[i]) sum += (*shares)[i];
  return std::min(sum, 1.0);
}

}  // namespace heed
