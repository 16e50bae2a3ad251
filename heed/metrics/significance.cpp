#include "heed/metrics/significance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "heed/base/philox.h"

namespace heed {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kWords = 4;                            // of one call of philox()
constexpr uint64_t kBootstrap = 0, kRandomization = 1;  // streams of random numbers
constexpr uint32_t kSampling = 3;                       // their purpose, next to those of base/philox.h

void check_options(const ResamplingOptions& options) {
  check(options.samples >= 1 && options.samples <= UINT32_MAX, "metrics/significance: got ", options.samples,
        " samples, expected 1 to ", UINT32_MAX);
  check(options.confidence > 0 && options.confidence < 1, "metrics/significance: got a confidence of ",
        options.confidence, ", expected a number between 0 and 1, as .95");
}

void check_outputs(const Resampled& outputs, size_t min_systems) {
  check(outputs.systems >= min_systems, "metrics/significance: got ", outputs.systems, " systems, expected at least ",
        min_systems);
  check(outputs.items >= 1 && outputs.items <= UINT32_MAX, "metrics/significance: got ", outputs.items,
        " items, expected 1 to ", UINT32_MAX);
}

/// The random words of a sample, in order.
class SampleWords {
 public:
  SampleWords(uint64_t seed, uint64_t stream, uint32_t sample) : seed_(seed), stream_(stream), sample_(sample) {}

  uint32_t next() {
    if (at_ % kWords == 0)
      words_ = philox(seed_, static_cast<uint32_t>(at_ / kWords), sample_, 0, stream_word(stream_, kSampling));
    return words_.word[at_++ % kWords];
  }

 private:
  uint64_t seed_, stream_;
  uint32_t sample_;
  uint64_t at_ = 0;
  Philox words_{};
};

/// As many items as there are, with repetition.
void draw(std::vector<size_t>& items, SampleWords words) {
  for (auto& item : items) item = static_cast<size_t>(uint64_t{words.next()} * items.size() >> 32U);
}

/// For each item whether the two systems change places.
void draw(std::vector<bool>& swaps, SampleWords words) {
  constexpr size_t kBits = 32;
  uint32_t word = 0;
  for (size_t i = 0; i < swaps.size(); ++i) {
    if (i % kBits == 0) word = words.next();
    swaps[i] = (word >> (i % kBits) & 1U) != 0;
  }
}

std::vector<size_t> outputs_of(const std::vector<size_t>& items, size_t system) {
  std::vector<size_t> all(items);
  for (auto& output : all) output += system * items.size();
  return all;
}

/// The smallest difference that counts against one of these scores. Rounding may make equal differences differ a
/// little.
double least_counted(double score, double first, bool like_sacrebleu) {
  constexpr double kRounding = 1e-12;
  const double rounding = kRounding * (std::abs(score) + std::abs(first));
  return std::abs(score - first) + (like_sacrebleu ? rounding : -rounding);
}

std::vector<double> without_undefined(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values;
}

/// (1 + number of values >= bound) / (1 + number of values)
double p_value(const std::vector<double>& values, double bound) {
  const auto larger = std::count_if(values.begin(), values.end(), [=](double value) { return value >= bound; });
  return static_cast<double>(1 + larger) / static_cast<double>(1 + values.size());
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> magnitudes(std::vector<double> values) {
  for (auto& value : values) value = std::abs(value);
  return values;
}

std::vector<double> less_their_mean(std::vector<double> values) {
  for (const double center = mean(values); auto& value : values) value -= center;
  return values;
}

/// differences: of samples. center: they are of the bootstrap, which vary around the difference of all items, not 0.
Comparison compared(double score, double first, const std::vector<double>& differences, bool center,
                    bool like_sacrebleu) {
  Comparison found{.difference = score - first};
  const auto defined = without_undefined(differences);
  found.undefined = static_cast<int64_t>(differences.size() - defined.size());
  const auto sizes = !center          ? magnitudes(defined)
                     : like_sacrebleu ? less_their_mean(magnitudes(defined))
                                      : magnitudes(less_their_mean(defined));
  found.p = std::isnan(found.difference) ? kNoScore : p_value(sizes, least_counted(score, first, like_sacrebleu));
  return found;
}

std::vector<Comparison> corrected(std::vector<Comparison> comparisons) {
  std::vector<double> p;
  p.reserve(comparisons.size());
  for (const auto& one : comparisons) p.push_back(one.p);
  p = holm(p);
  for (size_t i = 0; i < p.size(); ++i) comparisons[i].p_holm = p[i];
  return comparisons;
}

/// Differences of two systems whose outputs for some items changed places.
std::vector<double> random_differences(const Resampled& outputs, size_t system, const ResamplingOptions& options) {
  std::vector<double> differences;
  std::vector<bool> swaps(outputs.items);
  std::vector<size_t> ours(outputs.items), theirs(outputs.items);
  for (int64_t sample = 0; sample < options.samples; ++sample) {
    draw(swaps, {options.seed, kRandomization, static_cast<uint32_t>(sample)});
    for (size_t item = 0; item < outputs.items; ++item) {
      ours[item] = item + (swaps[item] ? 0 : system * outputs.items);
      theirs[item] = item + (swaps[item] ? system * outputs.items : 0);
    }
    differences.push_back(outputs.score(ours) - outputs.score(theirs));
  }
  return differences;
}

}  // namespace

std::vector<double> scores_of(const Resampled& outputs) {
  check_outputs(outputs, 1);
  std::vector<size_t> items(outputs.items);
  std::iota(items.begin(), items.end(), size_t{0});
  std::vector<double> scores;
  for (size_t system = 0; system < outputs.systems; ++system)
    scores.push_back(outputs.score(outputs_of(items, system)));
  return scores;
}

SampleScores bootstrap_scores(const Resampled& outputs, const ResamplingOptions& options) {
  check_options(options);
  check_outputs(outputs, 1);
  SampleScores scores(outputs.systems);
  std::vector<size_t> items(outputs.items);
  for (int64_t sample = 0; sample < options.samples; ++sample) {
    draw(items, {options.seed, kBootstrap, static_cast<uint32_t>(sample)});
    for (size_t system = 0; system < outputs.systems; ++system)
      scores[system].push_back(outputs.score(outputs_of(items, system)));
  }
  return scores;
}

Interval confidence_interval(const std::vector<double>& scores, double confidence) {
  check_options({.confidence = confidence});
  check(!scores.empty(), "metrics/significance: got no scores of samples, expected at least 1");
  std::vector<double> defined = without_undefined(scores);
  const auto undefined = static_cast<int64_t>(scores.size() - defined.size());
  if (defined.empty()) return {kNoScore, kNoScore, kNoScore, undefined};
  std::sort(defined.begin(), defined.end());
  const auto count = static_cast<double>(defined.size());
  const auto outside = static_cast<size_t>(std::floor(count * (1 - confidence) / 2 + 1e-9));
  return {mean(defined), defined[outside], defined[defined.size() - 1 - outside], undefined};
}

std::vector<Interval> bootstrap_intervals(const Resampled& outputs, const ResamplingOptions& options) {
  std::vector<Interval> intervals;
  for (const auto& scores : bootstrap_scores(outputs, options))
    intervals.push_back(confidence_interval(scores, options.confidence));
  return intervals;
}

std::vector<Comparison> paired_bootstrap(const Resampled& outputs, const ResamplingOptions& options) {
  check_outputs(outputs, 2);
  return paired_bootstrap_of(outputs, bootstrap_scores(outputs, options), options);
}

std::vector<Comparison> paired_bootstrap_of(const Resampled& outputs, const SampleScores& samples,
                                            const ResamplingOptions& options) {
  check_outputs(outputs, 2);
  check(samples.size() == outputs.systems, "metrics/significance: got samples of ", samples.size(), " systems for ",
        outputs.systems, ", expected equal numbers");
  const auto scores = scores_of(outputs);
  std::vector<Comparison> all;
  for (size_t system = 1; system < outputs.systems; ++system) {
    check(samples[system].size() == samples[0].size(), "metrics/significance: got ", samples[0].size(), " and ",
          samples[system].size(), " samples, expected equal numbers");
    std::vector<double> differences;
    for (size_t i = 0; i < samples[0].size(); ++i) differences.push_back(samples[system][i] - samples[0][i]);
    all.push_back(compared(scores[system], scores[0], differences, true, options.like_sacrebleu));
    all.back().interval = confidence_interval(differences, options.confidence);
  }
  return corrected(std::move(all));
}

std::vector<Comparison> paired_randomization(const Resampled& outputs, const ResamplingOptions& options) {
  check_options(options);
  check_outputs(outputs, 2);
  const auto scores = scores_of(outputs);
  std::vector<Comparison> all;
  for (size_t system = 1; system < outputs.systems; ++system)
    all.push_back(compared(scores[system], scores[0], random_differences(outputs, system, options), false,
                           options.like_sacrebleu));
  return corrected(std::move(all));
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<size_t> order;
  for (size_t i = 0; i < p.size(); ++i) {
    if (std::isnan(p[i])) continue;
    check(p[i] >= 0 && p[i] <= 1, "metrics/significance: got p = ", p[i], ", expected 0 to 1");
    order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p);
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(order.size() - rank) * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace heed
