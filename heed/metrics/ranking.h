// Scores of rankings: for each query a list of items, best first, against the items that are relevant to it.
//
//   rel_r = 1 if the item at rank r = 1, 2, ... is relevant, else 0;   R: number of relevant items of the query
//
//   HR@k    1 if a relevant item is among the first k, else 0 (hit rate, also success@k)
//   NDCG@k  sum_{r <= k} rel_r / log2(r + 1), divided by its largest value, sum_{r <= min(k, R)} 1 / log2(r + 1)
//           (Jarvelin & Kekalainen, 2002, with gains of 0 and 1)
//   MRR     1 / rank of the first relevant item in the whole list, 0 if there is none (reciprocal rank)
//
// Scores of a set are means over the queries with a relevant item. A query without one has no score: it is counted and
// left out. A query with relevant items and no ranking scores 0 and is counted too. Rankings may have any length; what
// is not in them is not found. NDCG is scikit-learn's ndcg_score where the ranking has all items and no ties.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heed {

/// Items by query: of a ranking best first and each once, of relevant items in any order.
using ItemsOfQueries = std::map<std::string, std::vector<std::string>>;

struct QueryScores {
  std::string query;
  double hit = 0, ndcg = 0, reciprocal_rank = 0;  // 0 to 1
  int64_t first_hit = 0;                          // rank of the first relevant item; 0: none
};

struct RankingScores {
  double hit_rate = 0, ndcg = 0, mrr = 0;  // means over `queries`; 0 if there are none
  std::vector<QueryScores> queries;        // those with a relevant item, sorted by name
  int64_t without_relevant = 0;            // queries that are left out
  int64_t without_ranking = 0;             // queries that score 0 because nothing is ranked
};

/// ranking: without repeated items. relevant: at least one; repeated ones count once. k: at least 1.
QueryScores query_scores(const std::vector<std::string>& ranking, const std::vector<std::string>& relevant, int64_t k);

/// At least one query on either side.
RankingScores ranking_scores(const ItemsOfQueries& rankings, const ItemsOfQueries& relevant, int64_t k = 10);

}  // namespace heed
