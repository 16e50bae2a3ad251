// How many spans of a rationale an explanation finds. A span is a run of words without a gap; a found span matches if
// it has an intersection over union (of words) of at least 1/2 with some span of the rationale. Precision is the share
// of found spans that match, recall the number of those by the spans of the rationale; IoU F1 is made of the means of
// both over texts: the macro average of partial_match_score in rationale_benchmark/metrics.py of ERASER (DeYoung et
// al., 2020).

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "heed/metrics/resampled.h"

namespace heed {

/// Runs of true: (first, one after the last).
std::vector<std::pair<int64_t, int64_t>> spans_of(const std::vector<bool>& words);

struct SpanMatches {
  int64_t matched = 0, found = 0, gold = 0;  // spans
};

SpanMatches match_spans(const std::vector<bool>& found, const std::vector<bool>& gold, double min_iou = 0.5);

/// 2 P R / (P + R) of the means of precision and recall over texts. The mean precision is over texts with a found span,
/// the mean recall over texts with a rationale; NaN without both.
Statistics span_f1_statistics(const std::vector<SpanMatches>& texts);

}  // namespace heed
