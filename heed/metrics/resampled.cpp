#include "heed/metrics/resampled.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed {

Resampled resampled(const std::vector<Statistics>& systems) {
  check(!systems.empty(), "metrics/resampled: got no systems, expected at least 1");
  const size_t items = systems[0].rows.size();
  check(items > 0, "metrics/resampled: got no items, expected at least 1");
  const size_t width = systems[0].rows[0].size();
  std::vector<double> table;
  table.reserve(systems.size() * items * width);
  for (const auto& one : systems) {
    check(one.rows.size() == items, "metrics/resampled: got systems of ", items, " and of ", one.rows.size(),
          " items, expected equal numbers");
    for (const auto& row : one.rows) {
      check(row.size() == width, "metrics/resampled: got rows of ", width, " and of ", row.size(),
            " statistics, expected equal numbers");
      table.insert(table.end(), row.begin(), row.end());
    }
  }
  return {systems.size(), items,
          [table = std::move(table), width, score = systems[0].score](std::span<const size_t> outputs) {
            std::vector<double> sum(width);
            for (const size_t output : outputs)
              for (size_t i = 0; i < width; ++i) sum[i] += table[output * width + i];
            return score(sum);
          }};
}

Statistics mean_statistics(const std::vector<double>& values) {
  Statistics all{{}, [](const std::vector<double>& sum) {
                   return sum[1] > 0 ? sum[0] / sum[1] : std::numeric_limits<double>::quiet_NaN();
                 }};
  all.rows.reserve(values.size());
  for (const double value : values)
    all.rows.push_back(std::isnan(value) ? std::vector<double>{0, 0} : std::vector<double>{value, 1});
  return all;
}

size_t leave_out_of_all(std::vector<std::vector<double>>& values) {
  check(!values.empty(), "metrics/resampled: got no systems, expected at least 1");
  const size_t items = values.front().size();
  for (const auto& one : values)
    check(one.size() == items, "metrics/resampled: got systems of ", items, " and of ", one.size(),
          " items, expected equal numbers");
  size_t left_out = 0;
  for (size_t item = 0; item < items; ++item) {
    const auto undefined = [&](const std::vector<double>& one) { return std::isnan(one[item]); };
    if (std::none_of(values.begin(), values.end(), undefined)) continue;
    ++left_out;
    for (auto& one : values) one[item] = std::numeric_limits<double>::quiet_NaN();
  }
  return left_out;
}

}  // namespace heed
