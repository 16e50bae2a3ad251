#include "heed/metrics/attention_agreement.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/metrics/attention_distribution.h"
#include "heed/metrics/attention_relevance.h"
#include "heed/metrics/distribution_distance.h"
#include "heed/metrics/rank_correlation.h"

namespace heed {
namespace {

void check_sizes(size_t one, size_t other) {
  check(one == other, "metrics/attention_agreement: got maps of ", one, " and ", other,
        " keys, expected equal numbers");
}

}  // namespace

MapAgreement map_agreement(const std::vector<double>& one, const std::vector<double>& other, int64_t k) {
  check_sizes(one.size(), other.size());
  check(k >= 1, "metrics/attention_agreement: got k = ", k, ", expected at least 1");
  MapAgreement found;
  const auto p = distribution(one), q = distribution(other);
  if (p && q) {
    found.jsd = jensen_shannon(*p, *q);
    found.tvd = total_variation(*p, *q);
  }
  found.spearman = partial_spearman(one, other, {});
  if (std::ssize(one) > k) {
    const auto s = top_membership(one, k), t = top_membership(other, k);
    double sum = 0;
    for (size_t i = 0; i < s.size(); ++i) sum += std::min(s[i], t[i]);
    found.top_overlap = sum / static_cast<double>(k);
  }
  return found;
}

}  // namespace heed
