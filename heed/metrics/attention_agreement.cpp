#include "heed/metrics/attention_agreement.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/metrics/attention_distribution.h"
#include "heed/metrics/attention_relevance.h"
#include "heed/metrics/rank_correlation.h"

namespace heed {
namespace {

void check_sizes(size_t one, size_t other) {
  check(one == other, "metrics/attention_agreement: got maps of ", one, " and ", other,
        " keys, expected equal numbers");
}

}  // namespace

double total_variation(const std::vector<double>& p, const std::vector<double>& q) {
  check_sizes(p.size(), q.size());
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += std::abs(p[i] - q[i]);
  return std::min(sum / 2, 1.0);
}

double jensen_shannon(const std::vector<double>& p, const std::vector<double>& q) {
  check_sizes(p.size(), q.size());
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double both = p[i] + q[i];
    if (p[i] > 0) sum += p[i] * std::log(2 * p[i] / both) / 2;
    if (q[i] > 0) sum += q[i] * std::log(2 * q[i] / both) / 2;
  }
  return std::clamp(sum, 0.0, std::log(2.0));
}

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
