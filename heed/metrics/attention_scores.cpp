#include "heed/metrics/attention_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "heed/base/check.h"
#include "heed/metrics/attention_correctness.h"
#include "heed/metrics/attention_distribution.h"
#include "heed/metrics/attention_relevance.h"
#include "heed/metrics/rank_correlation.h"

namespace heed {
namespace {

using Values = std::vector<double>;

bool all_equal(const Values& values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

int64_t number_of(const std::vector<bool>& relevant) {
  return std::count(relevant.begin(), relevant.end(), true);
}

/// A weight is above the mean if it is more than rounding errors of the sum above it.
double just_above_mean(const Values& weights) {
  constexpr double kRounding = 1e-12;
  const double mean =
      std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(std::max<size_t>(1, weights.size()));
  return mean + kRounding * std::abs(mean);
}

void add_relevance(NamedScores& scores, const AttentionCase& one, double top_share) {
  const int64_t relevant = number_of(one.relevant);
  scores.emplace_back("correctness", attention_correctness(one.weights, one.relevant));
  scores.emplace_back("average_precision", average_precision(one.weights, one.relevant));
  scores.emplace_back("roc_auc", roc_auc(one.weights, one.relevant));
  scores.emplace_back("precision_at_k",
                      relevant > 0 ? precision_at(one.weights, one.relevant, relevant) : std::nullopt);
  scores.emplace_back("f1_above_mean", token_f1_above(one.weights, one.relevant, just_above_mean(one.weights)));
  if (top_share == 0) return;
  const auto top = std::llround(top_share * static_cast<double>(one.weights.size()));
  scores.emplace_back("f1_of_top", token_f1_of_top(one.weights, one.relevant, std::max(1LL, top)));
}

void add_spread(NamedScores& scores, const Values& weights) {
  const AttentionSpread spread = attention_spread(weights);
  scores.emplace_back("entropy", spread.entropy);
  scores.emplace_back("relative_entropy", spread.relative_entropy);
  scores.emplace_back("support", spread.support);
  scores.emplace_back("relative_support", spread.relative_support);
}

}  // namespace

NamedScores attention_scores(const AttentionCase& one, const AttentionScoreOptions& options) {
  NamedScores scores;
  if (!one.relevant.empty()) add_relevance(scores, one, options.top_share);
  scores.emplace_back("spearman", partial_spearman(one.weights, one.gold, {}));
  scores.emplace_back("kendall", kendall_tau_b(one.weights, one.gold));
  if (!one.controls.empty())
    scores.emplace_back("partial_spearman", partial_spearman(one.weights, one.gold, one.controls));
  if (options.spread) add_spread(scores, one.weights);
  return scores;
}

void MeanFigures::add(const NamedScores& scores, size_t item) {
  for (size_t i = 0; i < scores.size(); ++i) {
    const auto& [name, value] = scores[i];
    if (i == figures_.size()) figures_.push_back({name});
    Collected& figure = figures_[i];
    check(figure.name == name, "metrics/attention_scores: got the figure ", name, " of a case, expected ", figure.name);
    if (item >= figure.rows.size()) figure.rows.resize(item + 1, Values{0, 0});
    (value ? figure.defined : figure.undefined) += 1;
    if (!value) continue;
    figure.rows[item][0] += *value;
    figure.rows[item][1] += 1;
  }
}

std::vector<MeanFigure> MeanFigures::all(const ResamplingOptions& options) const {
  const auto mean_of = [](const Values& sum) {
    return sum[1] > 0 ? sum[0] / sum[1] : std::numeric_limits<double>::quiet_NaN();
  };
  std::vector<MeanFigure> all;
  for (const auto& one : figures_) {
    MeanFigure figure{.name = one.name, .defined = one.defined, .undefined = one.undefined};
    if (one.defined > 0) {
      const Resampled items = resampled({Statistics{one.rows, mean_of}});
      const Interval interval = bootstrap_intervals(items, options).front();
      figure.mean = scores_of(items).front();
      figure.low = interval.low;
      figure.high = interval.high;
    }
    all.push_back(std::move(figure));
  }
  return all;
}

std::vector<double> MeanFigures::means_of(const std::string& name) const {
  std::vector<double> means;
  for (const auto& one : figures_) {
    if (one.name != name) continue;
    for (const auto& row : one.rows)
      means.push_back(row[1] > 0 ? row[0] / row[1] : std::numeric_limits<double>::quiet_NaN());
  }
  return means;
}

std::optional<MeanDifference> MeanFigures::difference_to(const MeanFigures& other, const std::string& name,
                                                         const ResamplingOptions& options) const {
  std::vector<Values> means{other.means_of(name), means_of(name)};
  const size_t items = std::max(means[0].size(), means[1].size());
  for (auto& one : means) one.resize(items, std::numeric_limits<double>::quiet_NaN());
  const size_t both = items - leave_out_of_all(means);
  if (both < 2) return std::nullopt;
  const auto found =
      paired_bootstrap(resampled({mean_statistics(means[0]), mean_statistics(means[1])}), options).front();
  return MeanDifference{.difference = found.difference,
                        .low = found.interval->low,
                        .high = found.interval->high,
                        .p = found.p,
                        .items = static_cast<int64_t>(both)};
}

void AttentionTally::add(const AttentionCase& one, size_t item) {
  figures_.add(attention_scores(one, options_), item);
  ++cases_;
  const bool constant = all_equal(one.weights);
  const int64_t relevant = number_of(one.relevant);
  degenerate_.one_key += one.weights.size() == 1 ? 1 : 0;
  degenerate_.no_weight += constant && !one.weights.empty() && one.weights.front() == 0 ? 1 : 0;
  degenerate_.constant_weights += constant && one.weights.size() > 1 && one.weights.front() != 0 ? 1 : 0;
  degenerate_.constant_gold += one.gold.size() > 1 && all_equal(one.gold) ? 1 : 0;
  if (one.relevant.empty()) return;
  degenerate_.nothing_relevant += relevant == 0 ? 1 : 0;
  degenerate_.all_relevant += relevant == std::ssize(one.relevant) ? 1 : 0;
  degenerate_.tied_at_k += !constant && tied_at(one.weights, relevant) ? 1 : 0;
}

}  // namespace heed
