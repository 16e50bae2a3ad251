#include "heed/metrics/precision_recall.h"

#include "heed/metrics/share.h"

namespace heed {
namespace {

HitCounts summed(const std::vector<HitCounts>& counts) {
  HitCounts all;
  for (const auto& one : counts) {
    all.hits += one.hits;
    all.predicted += one.predicted;
    all.gold += one.gold;
  }
  return all;
}

/// sum_c weight(c) x_c / total, 0 where the total is 0.
template <typename Weight>
PrecisionRecall averaged(const std::vector<HitCounts>& counts, int64_t total, Weight weight) {
  PrecisionRecall all;
  for (const auto& one : counts) {
    const PrecisionRecall scores = precision_recall(one);
    const double factor = share(weight(one), total);
    all.precision += factor * scores.precision;
    all.recall += factor * scores.recall;
    all.f1 += factor * scores.f1;
    all.support += scores.support;
  }
  return all;
}

}  // namespace

PrecisionRecall precision_recall(const HitCounts& counts) {
  return {.precision = share(counts.hits, counts.predicted),
          .recall = share(counts.hits, counts.gold),
          .f1 = share(2 * counts.hits, counts.predicted + counts.gold),
          .support = counts.gold};
}

std::vector<PrecisionRecall> precision_recall(const std::vector<HitCounts>& counts) {
  std::vector<PrecisionRecall> all;
  all.reserve(counts.size());
  for (const auto& one : counts) all.push_back(precision_recall(one));
  return all;
}

PrecisionRecall macro_average(const std::vector<HitCounts>& counts) {
  return averaged(counts, static_cast<int64_t>(counts.size()), [](const HitCounts&) { return int64_t{1}; });
}

PrecisionRecall micro_average(const std::vector<HitCounts>& counts) {
  return precision_recall(summed(counts));
}

PrecisionRecall weighted_average(const std::vector<HitCounts>& counts) {
  return averaged(counts, summed(counts).gold, [](const HitCounts& one) { return one.gold; });
}

}  // namespace heed
