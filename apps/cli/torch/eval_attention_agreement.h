// Agreement of several maps over the same words, each with each, over a set of texts.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/eval_attention_report.h"

#include "heed/metrics/attention_scores.h"

namespace heed::cli {

class AgreementTally {
 public:
  /// overlap_words: k of the overlap of the k largest weights.
  AgreementTally(std::string name, int64_t overlap_words) : name_(std::move(name)), overlap_words_(overlap_words) {}

  /// Maps of one query over the same words; with fewer than two there is nothing to compare. item: the text, from 0.
  void add(const std::vector<std::vector<double>>& maps, size_t item);

  /// Adds the figures to the report, if two maps were compared. maps: their names; empty: numbers from 1.
  void report(AttentionReport& report, std::vector<std::string> maps = {}) const;

 private:
  std::string name_;
  int64_t overlap_words_;
  size_t maps_ = 0;  // the largest number that were compared at once
  MeanFigures figures_;
};

}  // namespace heed::cli
