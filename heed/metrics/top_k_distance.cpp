#include "heed/metrics/top_k_distance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/check.h"

namespace heed {
namespace {

using Values = std::vector<double>;

void check_comparable(const Values& values, size_t size) {
  check(values.size() == size, "metrics/top_k_distance: got ", values.size(), " and ", size,
        " values, expected equal numbers");
  for (size_t i = 0; i < values.size(); ++i)
    check(std::isfinite(values[i]), "metrics/top_k_distance: got the value ", values[i], " at ", i,
          ", expected finite values");
}

/// Whether each item is among the k largest.
std::vector<bool> members(const Values& values, size_t k) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
  std::vector<bool> inside(values.size());
  for (size_t rank = 0; rank < k; ++rank) inside[order[rank]] = true;
  return inside;
}

enum class PairOrder { first, second, tied, unknown };

PairOrder pair_order(const Values& values, const std::vector<bool>& inside, size_t i, size_t j) {
  if (!inside[i] && !inside[j]) return PairOrder::unknown;
  if (inside[i] != inside[j]) return inside[i] ? PairOrder::first : PairOrder::second;
  if (values[i] == values[j]) return PairOrder::tied;
  return values[i] > values[j] ? PairOrder::first : PairOrder::second;
}

}  // namespace

double top_k_cost(const Values& x, const Values& y, int64_t k, double penalty) {
  check_comparable(x, y.size());
  check_comparable(y, x.size());
  check(k >= 1, "metrics/top_k_distance: got k = ", k, ", expected at least 1");
  check(penalty >= 0 && penalty <= 1, "metrics/top_k_distance: got the penalty ", penalty, ", expected 0 to 1");
  const size_t size = std::min(static_cast<size_t>(k), x.size());
  const auto in_x = members(x, size), in_y = members(y, size);
  double cost = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!in_x[i] && !in_y[i]) continue;
    for (size_t j = 0; j < i; ++j) {
      if (!in_x[j] && !in_y[j]) continue;
      const PairOrder one = pair_order(x, in_x, i, j), other = pair_order(y, in_y, i, j);
      if (one == other) continue;
      const auto says = [](PairOrder order) { return order == PairOrder::first || order == PairOrder::second; };
      cost += says(one) && says(other) ? 1 : penalty;
    }
  }
  return cost;
}

std::optional<double> top_k_distance(const Values& x, const Values& y, int64_t k, double penalty) {
  const double cost = top_k_cost(x, y, k, penalty);
  if (x.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(x.size()), size = std::min(static_cast<double>(k), n);
  const double own = std::min(size, n - size), common = size - own;
  return cost / (common * (common - 1) / 2 + 2 * common * own + own * own + penalty * own * (own - 1));
}

}  // namespace heed
