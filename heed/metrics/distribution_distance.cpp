#include "heed/metrics/distribution_distance.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"

namespace heed {
namespace {

using Values = std::vector<double>;

void check_sizes(const Values& p, const Values& q) {
  check(p.size() == q.size(), "metrics/distribution_distance: got ", p.size(), " and ", q.size(),
        " probabilities, expected equal numbers");
}

double absolute_difference(const Values& p, const Values& q) {
  check_sizes(p, q);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += std::abs(p[i] - q[i]);
  return sum;
}

}  // namespace

double total_variation(const Values& p, const Values& q) {
  return std::min(absolute_difference(p, q) / 2, 1.0);
}

double mean_absolute_difference(const Values& p, const Values& q) {
  const double sum = absolute_difference(p, q);
  return p.empty() ? 0 : sum / static_cast<double>(p.size());
}

double jensen_shannon(const Values& p, const Values& q) {
  check_sizes(p, q);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double both = p[i] + q[i];
    if (p[i] > 0) sum += p[i] * std::log(2 * p[i] / both) / 2;
    if (q[i] > 0) sum += q[i] * std::log(2 * q[i] / both) / 2;
  }
  return std::clamp(sum, 0.0, std::log(2.0));
}

double kullback_leibler(const Values& p, const Values& q, double epsilon) {
  check_sizes(p, q);
  check(epsilon >= 0 && std::isfinite(epsilon), "metrics/distribution_distance: got the epsilon ", epsilon,
        ", expected 0 or more");
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i] > 0) sum += p[i] * std::log((p[i] + epsilon) / (q[i] + epsilon));
  return sum;
}

double jensen_shannon_with(const Values& p, const Values& q, double epsilon) {
  check_sizes(p, q);
  Values middle(p.size());
  for (size_t i = 0; i < p.size(); ++i) middle[i] = (p[i] + q[i]) / 2;
  return (kullback_leibler(p, middle, epsilon) + kullback_leibler(q, middle, epsilon)) / 2;
}

}  // namespace heed
