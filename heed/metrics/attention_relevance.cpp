#include "heed/metrics/attention_relevance.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "heed/base/check.h"

namespace heed {
namespace {

using Values = std::vector<double>;

void check_weights(const Values& weights) {
  for (size_t i = 0; i < weights.size(); ++i)
    check(!std::isnan(weights[i]), "metrics/attention_relevance: got NaN as the weight of word ", i,
          ", expected a number");
}

void check_sizes(const Values& weights, const std::vector<bool>& gold) {
  check(weights.size() == gold.size(), "metrics/attention_relevance: got ", weights.size(), " weights and ",
        gold.size(), " gold values, expected equal numbers");
  check_weights(weights);
}

double relevant_words(const std::vector<bool>& gold) {
  return static_cast<double>(std::count(gold.begin(), gold.end(), true));
}

/// Words of equal weight, the largest weight first.
struct Tied {
  double words = 0, relevant = 0;
};

std::vector<Tied> tied_words(const Values& weights, const std::vector<bool>& gold) {
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  std::vector<Tied> groups;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || weights[order[i]] != weights[order[i - 1]]) groups.emplace_back();
    groups.back().words += 1;
    groups.back().relevant += gold[order[i]] ? 1 : 0;
  }
  return groups;
}

/// The sum of the memberships of relevant words.
double members_found(const Values& membership, const std::vector<bool>& gold) {
  double sum = 0;
  for (size_t i = 0; i < gold.size(); ++i)
    if (gold[i]) sum += membership[i];
  return sum;
}

}  // namespace

std::optional<double> average_precision(const Values& weights, const std::vector<bool>& gold) {
  check_sizes(weights, gold);
  const double relevant = relevant_words(gold);
  if (relevant == 0) return std::nullopt;
  double seen = 0, hits = 0, sum = 0;
  for (const auto& group : tied_words(weights, gold)) {
    seen += group.words;
    hits += group.relevant;
    sum += group.relevant / relevant * (hits / seen);
  }
  return sum;
}

std::optional<double> roc_auc(const Values& weights, const std::vector<bool>& gold) {
  check_sizes(weights, gold);
  const double relevant = relevant_words(gold), others = static_cast<double>(gold.size()) - relevant;
  if (relevant == 0 || others == 0) return std::nullopt;
  double hits = 0, won = 0;  // won: pairs in which the relevant word has more weight, tied ones by half
  for (const auto& group : tied_words(weights, gold)) {
    won += (group.words - group.relevant) * (hits + group.relevant / 2);
    hits += group.relevant;
  }
  return won / (relevant * others);
}

std::vector<double> top_membership(const Values& weights, int64_t k) {
  check_weights(weights);
  check(k >= 0, "metrics/attention_relevance: got k = ", k, ", expected at least 0");
  Values members(weights.size(), k == 0 ? 0 : 1);
  if (k == 0 || k >= std::ssize(weights)) return members;
  Values sorted = weights;
  std::nth_element(sorted.begin(), sorted.begin() + (k - 1), sorted.end(), std::greater<>());
  const double last = sorted[static_cast<size_t>(k - 1)];
  const auto above = std::count_if(weights.begin(), weights.end(), [&](double weight) { return weight > last; });
  const auto tied = std::count(weights.begin(), weights.end(), last);
  const double part = static_cast<double>(k - above) / static_cast<double>(tied);
  for (size_t i = 0; i < weights.size(); ++i) members[i] = weights[i] > last ? 1 : weights[i] == last ? part : 0;
  return members;
}

std::optional<double> precision_at(const Values& weights, const std::vector<bool>& gold, int64_t k) {
  check_sizes(weights, gold);
  check(k >= 1, "metrics/attention_relevance: got k = ", k, ", expected at least 1");
  if (relevant_words(gold) == 0) return std::nullopt;
  return members_found(top_membership(weights, k), gold) / static_cast<double>(std::min(k, std::ssize(weights)));
}

std::optional<double> token_f1_of_top(const Values& weights, const std::vector<bool>& gold, int64_t k) {
  check_sizes(weights, gold);
  const double relevant = relevant_words(gold);
  if (relevant == 0) return std::nullopt;
  const auto chosen = static_cast<double>(std::min(k, std::ssize(weights)));
  return 2 * members_found(top_membership(weights, k), gold) / (chosen + relevant);
}

std::optional<double> token_f1_above(const Values& weights, const std::vector<bool>& gold, double threshold) {
  check_sizes(weights, gold);
  const double relevant = relevant_words(gold);
  if (relevant == 0) return std::nullopt;
  double chosen = 0, hits = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > threshold)) continue;
    chosen += 1;
    hits += gold[i] ? 1 : 0;
  }
  return 2 * hits / (chosen + relevant);
}

bool tied_at(const Values& weights, int64_t k) {
  const Values membership = top_membership(weights, k);
  return std::any_of(membership.begin(), membership.end(), [](double part) { return part > 0 && part < 1; });
}

}  // namespace heed
