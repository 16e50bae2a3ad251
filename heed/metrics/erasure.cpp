#include "heed/metrics/erasure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/check.h"

namespace heed {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.) / static_cast<double>(values.size());
}

}  // namespace

const std::vector<double>& erasure_shares() {
  static const std::vector<double> shares{0.01, 0.05, 0.1, 0.2, 0.5};
  return shares;
}

int64_t tokens_of_share(double share, int64_t tokens) {
  check(share > 0 && share <= 1, "metrics/erasure: got a share of ", share, ", expected above 0 and at most 1");
  check(tokens >= 0, "metrics/erasure: got ", tokens, " tokens, expected at least 0");
  constexpr double kRounding = 1e-9;  // 0.1 * 30 is above 3
  return std::min(tokens, static_cast<int64_t>(std::ceil(share * static_cast<double>(tokens) - kRounding)));
}

std::vector<int64_t> ranked(const std::vector<double>& scores, const std::vector<double>& tie_breaks) {
  check(scores.size() == tie_breaks.size(), "metrics/erasure: got ", scores.size(), " scores and ", tie_breaks.size(),
        " numbers that break ties, expected equal numbers");
  for (size_t i = 0; i < scores.size(); ++i)
    check(!std::isnan(scores[i]), "metrics/erasure: got NaN as the score of token ", i, ", expected a number");
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
    if (scores[i] != scores[j]) return scores[i] > scores[j];
    if (tie_breaks[i] != tie_breaks[j]) return tie_breaks[i] > tie_breaks[j];
    return a < b;
  });
  return order;
}

ErasureScores erasure_scores(double whole, const std::vector<double>& without, const std::vector<double>& alone) {
  check(!without.empty() && without.size() == alone.size(), "metrics/erasure: got ", without.size(),
        " outputs without tokens and ", alone.size(), " of tokens alone, expected equal numbers, at least 1");
  ErasureScores scores;
  for (size_t i = 0; i < without.size(); ++i) {
    scores.comprehensiveness.push_back(whole - without[i]);
    scores.sufficiency.push_back(whole - alone[i]);
  }
  scores.comprehensiveness_area = mean_of(scores.comprehensiveness);
  scores.sufficiency_area = mean_of(scores.sufficiency);
  return scores;
}

std::optional<int64_t> FlipSearch::next() const {
  const std::optional<int64_t> high = tokens_to_flip();
  if (!high) {
    if (tokens_ < 1 || seen_.count(tokens_) > 0) return std::nullopt;
    return tokens_;
  }
  int64_t low = 0;  // nothing removed: the decision is as it was
  for (const auto& [removed, flipped] : seen_)
    if (removed < *high) low = removed;
  if (*high - low <= 1) return std::nullopt;
  return low + (*high - low) / 2;
}

std::optional<int64_t> FlipSearch::tokens_to_flip() const {
  for (const auto& [removed, flipped] : seen_)
    if (flipped) return removed;
  return std::nullopt;
}

}  // namespace heed
