// Statistics of translation metrics by sentence, for significance.h. The score of their sum is that of the corpus.

#pragma once

#include <string>
#include <vector>

#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/edit_rate.h"
#include "heed/metrics/meteor.h"
#include "heed/metrics/resampled.h"
#include "heed/metrics/ter.h"

namespace heed {

// references: at least one list, each as long as `hypotheses`.

Statistics bleu_statistics(const Sentences& hypotheses, const std::vector<Sentences>& references,
                           const BleuOptions& options = {});
Statistics chrf_statistics(const Sentences& hypotheses, const std::vector<Sentences>& references,
                           const ChrfOptions& options = {});
Statistics ter_statistics(const Sentences& hypotheses, const std::vector<Sentences>& references,
                          const TerOptions& options = {});

// The same of scores that exist, with their counts by sentence.

Statistics statistics(const Chrf& found, const ChrfOptions& options = {});
Statistics statistics(const Ter& found);
Statistics statistics(const Meteor& found);
Statistics statistics(const EditRate& found);

}  // namespace heed
