#include "heed/metrics/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "heed/base/check.h"

namespace heed {
namespace {

using Values = std::vector<double>;

void check_ranked(const Values& values, size_t size) {
  check(values.size() == size, "metrics/rank_correlation: got ", values.size(), " and ", size,
        " values, expected equal numbers");
  for (size_t i = 0; i < values.size(); ++i)
    check(std::isfinite(values[i]), "metrics/rank_correlation: got the value ", values[i], " at ", i,
          ", expected finite values");
}

std::vector<size_t> sorted_order(const Values& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  return order;
}

double pairs_of(size_t count) {
  const auto n = static_cast<double>(count);
  return n * (n - 1) / 2;
}

/// Pairs of neighbors of which `same` holds throughout, in a sorted order.
template <typename Same>
double tied_pairs(size_t count, const Same& same) {
  double pairs = 0;
  for (size_t first = 0, last = 0; first < count; first = last) {
    while (last < count && same(first, last)) ++last;
    pairs += pairs_of(last - first);
  }
  return pairs;
}

/// Sorts the range; returns the number of pairs that were in descending order.
double sort_and_count(std::vector<double>::iterator begin, std::vector<double>::iterator end) {
  if (end - begin < 2) return 0;
  const auto middle = begin + (end - begin) / 2;
  double descending = sort_and_count(begin, middle) + sort_and_count(middle, end);
  for (auto left = begin, right = middle; left != middle; ++left) {
    while (right != end && *right < *left) ++right;
    descending += static_cast<double>(right - middle);
  }
  std::inplace_merge(begin, middle, end);
  return descending;
}

double inner_product_of(const Values& one, const Values& other) {
  return std::inner_product(one.begin(), one.end(), other.begin(), 0.0);
}

Values centered_ranks(const Values& values) {
  Values ranks = average_ranks(values);
  const double mean = (static_cast<double>(values.size()) + 1) / 2;  // ties do not change the sum
  for (double& rank : ranks) rank -= mean;
  return ranks;
}

/// What a basis of orthogonal vectors does not explain; empty if that is nothing but rounding errors.
Values residual(const Values& values, const std::vector<Values>& basis) {
  constexpr double kRounding = 1e-12;  // of squared lengths: ranks are exact, so a true remainder is far larger
  Values rest = values;
  for (int pass = 0; pass < 2; ++pass)  // the second one removes the rounding errors of the first
    for (const auto& direction : basis) {
      const double factor = inner_product_of(rest, direction) / inner_product_of(direction, direction);
      for (size_t i = 0; i < rest.size(); ++i) rest[i] -= factor * direction[i];
    }
  return inner_product_of(rest, rest) > kRounding * inner_product_of(values, values) ? rest : Values{};
}

}  // namespace

Values average_ranks(const Values& values) {
  const auto order = sorted_order(values);
  Values ranks(values.size());
  for (size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    for (size_t i = first; i < last; ++i) ranks[order[i]] = static_cast<double>(first + 1 + last) / 2;
  }
  return ranks;
}

std::optional<double> kendall_tau_b(const Values& x, const Values& y) {
  check_ranked(x, y.size());
  check_ranked(y, x.size());
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return x[a] != x[b] ? x[a] < x[b] : y[a] < y[b]; });
  Values by_x;
  for (const size_t i : order) by_x.push_back(y[i]);
  const double tied_x = tied_pairs(x.size(), [&](size_t a, size_t b) { return x[order[a]] == x[order[b]]; });
  const double tied_both = tied_pairs(
      x.size(), [&](size_t a, size_t b) { return x[order[a]] == x[order[b]] && y[order[a]] == y[order[b]]; });
  const double discordant = sort_and_count(by_x.begin(), by_x.end());
  const double tied_y = tied_pairs(y.size(), [&](size_t a, size_t b) { return by_x[a] == by_x[b]; });
  const double all = pairs_of(x.size()), untied_x = all - tied_x, untied_y = all - tied_y;
  if (untied_x == 0 || untied_y == 0) return std::nullopt;
  const double difference = all - tied_x - tied_y + tied_both - 2 * discordant;
  return std::clamp(difference / std::sqrt(untied_x) / std::sqrt(untied_y), -1.0, 1.0);
}

std::optional<double> partial_spearman(const Values& x, const Values& y, const std::vector<Values>& controls) {
  check_ranked(x, y.size());
  check_ranked(y, x.size());
  std::vector<Values> basis;
  for (const auto& control : controls) {
    check_ranked(control, x.size());
    Values direction = residual(centered_ranks(control), basis);
    if (!direction.empty()) basis.push_back(std::move(direction));
  }
  if (x.size() < basis.size() + 2 + (basis.empty() ? 0 : 1)) return std::nullopt;
  const Values of_x = residual(centered_ranks(x), basis), of_y = residual(centered_ranks(y), basis);
  if (of_x.empty() || of_y.empty()) return std::nullopt;
  return std::clamp(
      inner_product_of(of_x, of_y) / std::sqrt(inner_product_of(of_x, of_x) * inner_product_of(of_y, of_y)), -1.0, 1.0);
}

}  // namespace heed
