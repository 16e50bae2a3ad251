#include "apps/cli/torch/eval_attention_agreement.h"

#include <algorithm>

#include "heed/metrics/attention_agreement.h"

namespace heed::cli {

void AgreementTally::add(const std::vector<std::vector<double>>& maps, size_t item) {
  if (maps.size() < 2) return;
  maps_ = std::max(maps_, maps.size());
  for (size_t one = 0; one < maps.size(); ++one)
    for (size_t other = 0; other < one; ++other) {
      const MapAgreement found = map_agreement(maps[other], maps[one], overlap_words_);
      figures_.add(
          {{"jsd", found.jsd}, {"tvd", found.tvd}, {"spearman", found.spearman}, {"top_overlap", found.top_overlap}},
          item);
    }
}

void AgreementTally::report(AttentionReport& report, std::vector<std::string> maps) const {
  if (maps_ < 2) return;
  for (size_t i = maps.size(); i < maps_; ++i) maps.push_back(std::to_string(i + 1));
  report.agreements.push_back({name_, std::move(maps), figures_.all(report.resampling)});
}

}  // namespace heed::cli
