#include "heed/base/nearest.h"

#include <algorithm>

namespace heed {

size_t distance(const std::string& from, const std::string& to) {
  const size_t rows = from.size() + 1, columns = to.size() + 1;
  std::vector<std::vector<size_t>> cost(rows, std::vector<size_t>(columns));
  for (size_t i = 0; i < rows; ++i) cost[i][0] = i;
  for (size_t j = 0; j < columns; ++j) cost[0][j] = j;
  for (size_t i = 1; i < rows; ++i) {
    for (size_t j = 1; j < columns; ++j) {
      const size_t replaced = cost[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[rows - 1][columns - 1];
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t min = 0;
  for (const auto& candidate : known) {
    const size_t d = distance(word, candidate);
    if (best.empty() || d < min) {
      best = candidate;
      min = d;
    }
  }
  return !best.empty() && 3 * min <= std::max(word.size(), best.size()) ? best : "";
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : " (did you mean '" + near + "'?)";
}

}  // namespace heed
