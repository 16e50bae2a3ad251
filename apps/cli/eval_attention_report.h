// What heed eval RUN --attention GOLD reports: as JSON, and as tables for a terminal.

#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/provenance.h"
#include <nlohmann/json_fwd.hpp>

#include "heed/metrics/attention_scores.h"

namespace heed::cli {

/// The figures of one map of weights: of attention, or of a baseline.
struct MapFigures {
  std::string name;  // "attention", "equal", ...
  std::vector<MeanFigure> figures;
};

/// Attention less a baseline, over the texts where both have the figure.
struct BaselineDifference {
  std::string figure, baseline;
  MeanDifference found;
};

/// Agreement of maps: of heads, of calls, of queries or of runs.
struct AgreementFigures {
  std::string name;                 // "heads", "runs"
  std::vector<std::string> maps{};  // what is compared, each with each
  std::vector<MeanFigure> figures{};
};

/// Alignment error of the links of a direction, or of both.
struct LinkFigures {
  std::string name;  // "forward", "product"
  double error = 0, precision = 0, recall = 0;
  double low = 0, high = 0;  // interval of the error
};

struct AttentionReport {
  std::string run, gold;
  std::string item = "texts", one_case = "texts";         // what intervals resample, and what figures are means over
  std::vector<std::pair<std::string, int64_t>> counts{};  // sizes, and cases left out or degenerate
  std::vector<std::string> notes{};                       // sentences for the reader
  std::vector<MapFigures> maps{};                         // attention first, then the baselines
  std::vector<BaselineDifference> differences{};          // to the strongest baseline of each figure
  std::vector<AgreementFigures> agreements{};
  std::vector<LinkFigures> links{};
  ResamplingOptions resampling{};
  Provenance origin{};
};

/// Adds the counts of degenerate cases, and what the partial correlation means, if it is there and of 20 cases or more.
void add_degenerate(AttentionReport& report, const DegenerateCases& cases, bool has_rationales);
void add_meaning(AttentionReport& report);

/// The one of these maps with the largest mean of a figure; empty if none has it.
std::string strongest_of(const AttentionReport& report, const std::vector<std::string>& maps,
                         const std::string& figure);

nlohmann::ordered_json as_json(const AttentionReport& report);
void print(std::ostream& out, const AttentionReport& report);

}  // namespace heed::cli
