#include "heed/metrics/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

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

/// Sums over groups of equal values, t of each.
struct Ties {
  double pairs = 0, triples = 0, weighted = 0;  // t (t - 1) / 2, t (t - 1) (t - 2), t (t - 1) (2 t + 5)
};

/// same: whether neighbors of a sorted order are equal.
template <typename Same>
Ties ties_of(size_t count, const Same& same) {
  Ties ties;
  for (size_t first = 0, last = 0; first < count; first = last) {
    while (last < count && same(first, last)) ++last;
    const auto t = static_cast<double>(last - first);
    ties.pairs += pairs_of(last - first);
    ties.triples += t * (t - 1) * (t - 2);
    ties.weighted += t * (t - 1) * (2 * t + 5);
  }
  return ties;
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

/// How the pairs of values are ordered in x and in y.
struct PairedOrders {
  double all = 0, discordant = 0, difference = 0;  // difference: pairs in the same order less those in the opposite one
  Ties x{}, y{};
};

PairedOrders paired_orders(const Values& x, const Values& y) {
  check_ranked(x, y.size());
  check_ranked(y, x.size());
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return x[a] != x[b] ? x[a] < x[b] : y[a] < y[b]; });
  Values by_x;
  for (const size_t i : order) by_x.push_back(y[i]);
  PairedOrders found{.all = pairs_of(x.size())};
  found.x = ties_of(x.size(), [&](size_t a, size_t b) { return x[order[a]] == x[order[b]]; });
  const Ties both =
      ties_of(x.size(), [&](size_t a, size_t b) { return x[order[a]] == x[order[b]] && y[order[a]] == y[order[b]]; });
  found.discordant = sort_and_count(by_x.begin(), by_x.end());
  found.y = ties_of(y.size(), [&](size_t a, size_t b) { return by_x[a] == by_x[b]; });
  found.difference = found.all - found.x.pairs - found.y.pairs + both.pairs - 2 * found.discordant;
  return found;
}

std::optional<double> tau_of(const PairedOrders& orders) {
  const double untied_x = orders.all - orders.x.pairs, untied_y = orders.all - orders.y.pairs;
  if (untied_x == 0 || untied_y == 0) return std::nullopt;
  return std::clamp(orders.difference / std::sqrt(untied_x) / std::sqrt(untied_y), -1.0, 1.0);
}

/// Twice the share of the orders of n values that have at most `inversions` pairs in descending order. The shares of
/// n values with c inversions are means of those of n - 1 values with c - n + 1 ... c.
double exact_p(size_t n, double inversions) {
  const auto count = static_cast<size_t>(inversions);
  if (n == 0 || 2 * inversions >= pairs_of(n)) return 1;
  Values shares(count + 1, 0);
  shares[0] = 1;
  for (size_t values = 2; values <= n; ++values) {
    Values next(count + 1);
    double sum = 0;
    for (size_t c = 0; c <= count; ++c) {
      sum += shares[c];
      if (c >= values) sum -= shares[c - values];
      next[c] = sum / static_cast<double>(values);
    }
    shares = std::move(next);
  }
  return std::clamp(2 * std::accumulate(shares.begin(), shares.end(), 0.0), 0.0, 1.0);
}

/// n: 3 or more; two values without ties have the exact one.
double normal_p(size_t count, const PairedOrders& orders) {
  const auto n = static_cast<double>(count);
  const double pairs = n * (n - 1);
  const double variance = (pairs * (2 * n + 5) - orders.x.weighted - orders.y.weighted) / 18 +
                          2 * orders.x.pairs * orders.y.pairs / pairs +
                          orders.x.triples * orders.y.triples / (9 * pairs * (n - 2));
  return std::erfc(std::abs(orders.difference) / std::sqrt(2 * variance));
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
  return tau_of(paired_orders(x, y));
}

std::optional<KendallTest> kendall_test(const Values& x, const Values& y) {
  const PairedOrders orders = paired_orders(x, y);
  const auto tau = tau_of(orders);
  if (!tau) return std::nullopt;
  constexpr size_t kExactSize = 33;  // SciPy's
  const bool ties = orders.x.pairs > 0 || orders.y.pairs > 0;
  const double rarer = std::min(orders.discordant, orders.all - orders.discordant);
  const bool exact = !ties && (x.size() <= kExactSize || rarer <= 1);
  return KendallTest{*tau, exact ? exact_p(x.size(), rarer) : normal_p(x.size(), orders)};
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
