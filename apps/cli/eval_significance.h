// Whether scores of files, or differences between systems, are due to the choice of the test set
// (metrics/significance.h): intervals, and p of every system against the first.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/eval_metric/file_metric.h"

#include "heed/metrics/significance.h"

namespace heed::cli {

struct SignificanceOptions {
  bool intervals = false;
  std::string paired;  // "bootstrap", "randomization"; empty: no test
  ResamplingOptions resampling;
  bool any() const { return intervals || !paired.empty(); }
};

/// What was found for one metric, by system; empty lists were not asked for. Comparisons begin with the second system.
struct Significance {
  std::vector<Interval> intervals;
  std::vector<Comparison> comparisons;
};

/// Throws Error if there is nothing to resample, or one system alone to compare.
Significance significance(const Measured& measured, const SignificanceOptions& options);

/// Prints a table of the systems: their scores with intervals, and differences with p.
void print_systems(std::ostream& out, const std::vector<std::string>& systems, const Measured& measured,
                   const Significance& found, int digits, int columns);

/// Sentences on what was done: "95 % intervals: ...".
std::vector<std::string> notes_on(const SignificanceOptions& options, const std::vector<std::string>& systems,
                                  const Measured& measured);

nlohmann::ordered_json as_json(const Interval& interval);
nlohmann::ordered_json as_json(const Comparison& comparison);
nlohmann::ordered_json as_json(const SignificanceOptions& options);

}  // namespace heed::cli
