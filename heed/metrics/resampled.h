// What significance tests resample: the outputs of one or several systems for the same items (sentences, examples).
//
// A metric whose statistics add up, such as BLEU, is summed over the outputs of a sample; any other, such as Spearman's
// correlation, is computed again from them. With several runs of a system, concatenate their statistics and let the
// score be the mean of theirs.

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "heed/base/check.h"

namespace heed {

struct Resampled {
  size_t systems = 0, items = 0;
  /// The score of `items` outputs, repeated or mixed from several systems; NaN where it is undefined. The output of a
  /// system for an item has the number system * items + item.
  std::function<double(std::span<const size_t> outputs)> score;
};

/// Statistics of one system: a row per item, all of the same length, and the score of a sum of rows.
struct Statistics {
  std::vector<std::vector<double>> rows;
  std::function<double(const std::vector<double>& sum)> score;
};

/// systems: at least one, of the same items and of one metric.
Resampled resampled(const std::vector<Statistics>& systems);

/// Statistics of a metric that is the mean over items, without those whose value is NaN; NaN if there is no other.
Statistics mean_statistics(const std::vector<double>& values);

/// Makes an item that is undefined (NaN) in one system undefined in all, so that their means are over the same items.
/// values: [system][item]. Returns the number of such items.
size_t leave_out_of_all(std::vector<std::vector<double>>& values);

/// Values of each system and gold values, one per item, that `score` computes from as a whole.
template <typename Value, typename Gold, typename Score>
Resampled rescored(std::vector<std::vector<Value>> systems, std::vector<Gold> gold, Score score) {
  check(!systems.empty() && !gold.empty(), "metrics/resampled: got ", systems.size(), " systems and ", gold.size(),
        " items, expected at least 1 of each");
  for (const auto& values : systems)
    check(values.size() == gold.size(), "metrics/resampled: got ", values.size(), " values of a system for ",
          gold.size(), " items, expected equal numbers");
  const size_t count = systems.size(), items = gold.size();
  return {count, items,
          [systems = std::move(systems), gold = std::move(gold), score](std::span<const size_t> outputs) -> double {
            std::vector<Value> ours;
            std::vector<Gold> theirs;
            ours.reserve(outputs.size());
            theirs.reserve(outputs.size());
            for (const size_t output : outputs) {
              ours.push_back(systems[output / gold.size()][output % gold.size()]);
              theirs.push_back(gold[output % gold.size()]);
            }
            return score(ours, theirs);
          }};
}

}  // namespace heed
