#include "heed/metrics/attention_distribution.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"

namespace heed {

std::optional<std::vector<double>> distribution(const std::vector<double>& weights) {
  double largest = 0;
  bool negative = false;
  for (size_t i = 0; i < weights.size(); ++i) {
    check(std::isfinite(weights[i]), "metrics/attention_distribution: got the weight ", weights[i], " for key ", i,
          ", expected finite weights");
    negative = negative || weights[i] < 0;
    largest = std::max(largest, weights[i]);
  }
  if (negative || largest == 0) return std::nullopt;
  const int power = std::ilogb(largest);  // sums of scaled weights neither overflow nor vanish
  std::vector<double> shares;
  double sum = 0;
  for (const double weight : weights) {
    shares.push_back(std::scalbn(weight, -power));
    sum += shares.back();
  }
  for (double& share : shares) share /= sum;
  return shares;
}

AttentionSpread attention_spread(const std::vector<double>& weights) {
  const auto shares = distribution(weights);
  if (!shares) return {};
  double entropy = 0;
  for (const double share : *shares)
    if (share > 0) entropy -= share * std::log(share);
  const auto keys = static_cast<double>(weights.size());
  const double support = std::exp(std::max(0.0, entropy));
  AttentionSpread spread{.entropy = std::max(0.0, entropy), .support = support, .relative_support = support / keys};
  if (weights.size() > 1) spread.relative_entropy = *spread.entropy / std::log(keys);
  return spread;
}

}  // namespace heed
