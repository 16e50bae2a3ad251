// Whether a score, or the difference of two, is due to the choice of the test set.
//
//   bootstrap      a sample draws as many items as there are, with repetition. The interval of 95 % leaves out the
//                  samples / 40 lowest and as many highest of the scores (Efron, 1979; Koehn, 2004)
//   paired         the same samples for all systems. With d_s the difference to the first system in sample s and d that
//   bootstrap      of all items:    p = (1 + number of s with |d_s - mean d_s| >= |d|) / (1 + samples)
//   randomization  each item's outputs of the two systems change places or not, by a coin (Noreen, 1989; Riezler &
//                  Maxwell, 2005):  p = (1 + number of s with |d_s| >= |d|) / (1 + samples)
//
// Samples vary around d as d would around 0 if the systems were equal, hence the centers (Efron & Tibshirani, 1993).
//
// `like_sacrebleu` gives the p of sacreBLEU 2, to compare with its figures. Its bootstrap counts |d_s| - mean |d_s|,
// which is one-sided: p is below .05 in one of ten comparisons of equal systems. It counts > instead of >=: for metrics
// of few values, such as accuracy, p is too small, and a system compared with itself has 1 / (1 + samples) instead
// of 1.
//
// Where one system is compared with m others, Holm's (1979) correction keeps the probability of any false finding: the
// smallest p is multiplied by m, the next one by m - 1, ..., and none is smaller than the one before it.
//
// Random numbers are Philox's (base/philox.h) under the seed, so that a sample depends on seed, number and items alone.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heed/metrics/resampled.h"

namespace heed {

struct ResamplingOptions {
  int64_t samples = 1000;
  uint64_t seed = 1;
  double confidence = 0.95;
  bool like_sacrebleu = false;  // p of paired tests as sacreBLEU 2 has it
};

struct Interval {
  double mean = 0, low = 0, high = 0;  // NaN if all samples are undefined
  int64_t undefined = 0;               // samples without a score (NaN), which are left out
};

struct Comparison {
  double difference = 0;               // score less that of the first system
  std::optional<Interval> interval{};  // of the difference; of bootstrap samples alone
  double p = 1;                        // NaN where the difference is undefined
  double p_holm = 1;                   // after Holm's correction over all comparisons
  int64_t undefined = 0;               // samples without a difference (NaN), which are left out
};

using SampleScores = std::vector<std::vector<double>>;  // [system][sample]

/// The score of each system on all items.
std::vector<double> scores_of(const Resampled& outputs);

/// Scores of bootstrap samples. samples: 1 or more, up to 2^32; items: up to 2^32.
SampleScores bootstrap_scores(const Resampled& outputs, const ResamplingOptions& options = {});
/// Mean and bounds of the scores of samples.
Interval confidence_interval(const std::vector<double>& scores, double confidence = 0.95);
/// The interval of each system.
std::vector<Interval> bootstrap_intervals(const Resampled& outputs, const ResamplingOptions& options = {});

/// Compares every other system with the first; at least two.
std::vector<Comparison> paired_bootstrap(const Resampled& outputs, const ResamplingOptions& options = {});
/// The same from scores of bootstrap samples that exist.
std::vector<Comparison> paired_bootstrap_of(const Resampled& outputs, const SampleScores& samples,
                                            const ResamplingOptions& options = {});
std::vector<Comparison> paired_randomization(const Resampled& outputs, const ResamplingOptions& options = {});

/// p after Holm's correction, in the order given. NaN is no comparison: it stays and does not count.
std::vector<double> holm(const std::vector<double>& p);

}  // namespace heed
