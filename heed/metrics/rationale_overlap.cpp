#include "heed/metrics/rationale_overlap.h"

#include <algorithm>
#include <limits>

#include "heed/base/check.h"
#include "heed/metrics/share.h"

namespace heed {

std::vector<std::pair<int64_t, int64_t>> spans_of(const std::vector<bool>& words) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (int64_t i = 0; i < std::ssize(words); ++i) {
    if (!words[static_cast<size_t>(i)]) continue;
    if (spans.empty() || spans.back().second != i) spans.emplace_back(i, i);
    spans.back().second = i + 1;
  }
  return spans;
}

SpanMatches match_spans(const std::vector<bool>& found, const std::vector<bool>& gold, double min_iou) {
  check(found.size() == gold.size(), "metrics/rationale_overlap: got ", found.size(), " words and ", gold.size(),
        " gold values, expected equal numbers");
  const auto found_spans = spans_of(found), gold_spans = spans_of(gold);
  const auto matches = [&](const std::pair<int64_t, int64_t>& span) {
    return std::any_of(gold_spans.begin(), gold_spans.end(), [&](const auto& other) {
      const int64_t both = std::min(span.second, other.second) - std::max(span.first, other.first);
      if (both <= 0) return false;
      const int64_t either = span.second - span.first + other.second - other.first - both;
      return share(both, either) >= min_iou;
    });
  };
  return {std::count_if(found_spans.begin(), found_spans.end(), matches), std::ssize(found_spans),
          std::ssize(gold_spans)};
}

Statistics span_f1_statistics(const std::vector<SpanMatches>& texts) {
  Statistics all{{}, [](const std::vector<double>& sum) {
                   if (sum[1] == 0 || sum[3] == 0) return std::numeric_limits<double>::quiet_NaN();
                   const double precision = sum[0] / sum[1], recall = sum[2] / sum[3];
                   return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
                 }};
  all.rows.reserve(texts.size());
  for (const SpanMatches& text : texts)
    all.rows.push_back({share(text.matched, text.found), text.found > 0 ? 1. : 0., share(text.matched, text.gold),
                        text.gold > 0 ? 1. : 0.});
  return all;
}

}  // namespace heed
