#include "heed/metrics/ranking.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"

namespace heed {
namespace {

using ItemSet = std::unordered_set<std::string>;

double gain(int64_t rank) {
  return 1 / std::log2(static_cast<double>(rank + 1));
}

double best_gain(int64_t relevant, int64_t k) {
  double sum = 0;
  for (int64_t rank = 1; rank <= std::min(k, relevant); ++rank) sum += gain(rank);
  return sum;
}

void check_cutoff(int64_t k) {
  check(k >= 1, "metrics/ranking: got k = ", k, ", expected at least 1");
}

}  // namespace

QueryScores query_scores(const std::vector<std::string>& ranking, const std::vector<std::string>& relevant, int64_t k) {
  check_cutoff(k);
  check(!relevant.empty(), "metrics/ranking: got no relevant items, expected at least one");
  const ItemSet sought(relevant.begin(), relevant.end());
  ItemSet seen;
  QueryScores found;
  double sum = 0;
  for (size_t i = 0; i < ranking.size(); ++i) {
    const auto rank = static_cast<int64_t>(i + 1);
    check(seen.insert(ranking[i]).second, "metrics/ranking: got the item \"", excerpt(ranking[i]), "\" again at rank ",
          rank, ", expected each item once");
    if (!sought.contains(ranking[i])) continue;
    if (found.first_hit == 0) found.first_hit = rank;
    if (rank <= k) sum += gain(rank);
  }
  found.hit = found.first_hit > 0 && found.first_hit <= k ? 1 : 0;
  found.ndcg = sum / best_gain(static_cast<int64_t>(sought.size()), k);
  found.reciprocal_rank = found.first_hit > 0 ? 1 / static_cast<double>(found.first_hit) : 0;
  return found;
}

RankingScores ranking_scores(const ItemsOfQueries& rankings, const ItemsOfQueries& relevant, int64_t k) {
  check_cutoff(k);
  check(!rankings.empty() || !relevant.empty(), "metrics/ranking: got no queries, expected at least one");
  RankingScores all;
  for (const auto& [query, items] : rankings) {
    const auto found = relevant.find(query);
    all.without_relevant += found == relevant.end() || found->second.empty() ? 1 : 0;
  }
  for (const auto& [query, items] : relevant) {
    const auto ranking = rankings.find(query);
    if (items.empty()) {
      all.without_relevant += ranking == rankings.end() ? 1 : 0;
      continue;
    }
    const bool ranked = ranking != rankings.end() && !ranking->second.empty();
    all.without_ranking += ranked ? 0 : 1;
    all.queries.push_back(query_scores(ranked ? ranking->second : std::vector<std::string>{}, items, k));
    all.queries.back().query = query;
    all.hit_rate += all.queries.back().hit;
    all.ndcg += all.queries.back().ndcg;
    all.mrr += all.queries.back().reciprocal_rank;
  }
  const auto count = static_cast<double>(std::max<size_t>(1, all.queries.size()));
  all.hit_rate /= count;
  all.ndcg /= count;
  all.mrr /= count;
  return all;
}

}  // namespace heed
