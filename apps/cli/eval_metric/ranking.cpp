// hr, ndcg, mrr: of rankings, query<TAB>item item ... per line. Hypotheses have the items best first, the reference has
// the relevant ones. Queries are matched by name; the scores of one cut-off k.

#include "heed/metrics/ranking.h"

#include <limits>

#include "apps/cli/eval_metric/text_files.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"

namespace heed::cli {
namespace {

/// once: an item of a query may not be repeated.
ItemsOfQueries items_of_queries(const std::string& path, const std::vector<std::string>& lines, bool once) {
  ItemsOfQueries all;
  for (size_t i = 0; i < lines.size(); ++i) {
    check_plain(path, i, lines[i]);
    const size_t tab = lines[i].find('\t');
    check(tab != std::string::npos && tab > 0, at_line(path, i), "got '", excerpt(lines[i]),
          "', expected query<TAB>item item ..., or query<TAB> without items");
    const std::string query = lines[i].substr(0, tab);
    auto items = parts_of(lines[i].substr(tab + 1));
    std::set<std::string> seen;
    for (const auto& item : items)
      check(seen.insert(item).second || !once, at_line(path, i), "got the item '", excerpt(item),
            "' again, expected each item of a ranking once");
    check(all.emplace(query, std::move(items)).second, at_line(path, i), "got the query '", excerpt(query),
          "' again, expected each query once");
  }
  return all;
}

struct RankingFiles {
  static constexpr const char *kKind = "rankings", *kLine = "query<TAB>item item ...";
  RankingFiles(const FileMetricOptions& options, FileReader& reader) {
    check(!options.references.empty(), "eval: rankings in ", options.hypotheses.front(),
          " without references, expected a file of the relevant items");
    check_one_reference("rankings", options.references.size());
    const auto& gold = options.references.front();
    relevant = items_of_queries(gold, reader.lines(gold, kLine), false);
    for (const auto& path : options.hypotheses)
      systems.push_back(items_of_queries(path, reader.lines(path, kLine), true));
  }
  ItemsOfQueries relevant;
  std::vector<ItemsOfQueries> systems;
};

/// How a score is printed, and which one of a set and of a query it is.
struct RankingScore {
  std::string key, name;
  bool has_cutoff;
  double RankingScores::*of_set;
  double QueryScores::*of_query;
};

MetricFigure ranking_figure(const RankingScores& found, const RankingScore& which, int64_t k) {
  const auto count = std::to_string(found.queries.size());
  MetricFigure figure{.key = which.key,
                      .name = which.name + (which.has_cutoff ? "@" + std::to_string(k) : ""),
                      .signature = signature_of({}),
                      .score = found.queries.empty() ? std::numeric_limits<double>::quiet_NaN() : found.*which.of_set,
                      .details = "(queries = " + count +
                                 " without relevant items = " + std::to_string(found.without_relevant) +
                                 " without ranking = " + std::to_string(found.without_ranking) + ")",
                      .more = {{"queries", found.queries.size()},
                               {"without_relevant", found.without_relevant},
                               {"without_ranking", found.without_ranking}}};
  if (which.has_cutoff) figure.more["k"] = k;
  return figure;
}

Measured measure_rankings(const RankingFiles& files, const FileMetricOptions& options, const RankingScore& which) {
  Measured all{.unit = "queries"};
  std::vector<Statistics> systems;
  for (const auto& rankings : files.systems) {
    const RankingScores found = ranking_scores(rankings, files.relevant, options.k);
    all.figures.push_back(ranking_figure(found, which, options.k));
    all.items = found.queries.size();
    std::vector<double> values;
    for (const auto& query : found.queries) values.push_back(query.*which.of_query);
    systems.push_back(mean_statistics(values));
  }
  all.resampled = [systems = std::move(systems)] { return resampled(systems); };
  return all;
}

Measured measure_hr(const RankingFiles& files, const FileMetricOptions& options) {
  return measure_rankings(files, options, {"hr", "HR", true, &RankingScores::hit_rate, &QueryScores::hit});
}

Measured measure_ndcg(const RankingFiles& files, const FileMetricOptions& options) {
  return measure_rankings(files, options, {"ndcg", "NDCG", true, &RankingScores::ndcg, &QueryScores::ndcg});
}

Measured measure_mrr(const RankingFiles& files, const FileMetricOptions& options) {
  return measure_rankings(files, options, {"mrr", "MRR", false, &RankingScores::mrr, &QueryScores::reciprocal_rank});
}

const FileMetric hr_metric{"hr", measure_hr};
const FileMetric ndcg_metric{"ndcg", measure_ndcg};
const FileMetric mrr_metric{"mrr", measure_mrr};

}  // namespace
}  // namespace heed::cli
