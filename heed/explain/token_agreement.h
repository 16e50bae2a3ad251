// Whether the weights of a text and another measure of the importance of its tokens order the tokens alike: Kendall's
// tau-b, its p, and the distance of the lists of the k most important tokens. The tests gradients and leave_one_out.
//
// At each position of the output, then the mean over those where it is defined. A record has
//
//   tau, significant    of positions: mean tau, share with p <= .05
//   p                   where there is one position
//   top_k_distance      k = max(10, a tenth of the mean number of tokens of all texts), p = .5 (Fagin et al., 2003)
//   weights, importance maps, means over positions

#pragma once

#include <string>
#include <vector>

#include "heed/explain/by_class.h"
#include "heed/explain/test.h"

namespace heed {

struct ImportanceName {
  std::string one{}, several{};  // "gradient", "gradients"
  double negligible = 0;         // importance at most this differs from 0 by rounding errors
};

/// importance: double [B, P, T], on the CPU.
std::vector<ExplanationRecord> measure_agreement(const ExplainedBatch& batch, const Tensor& importance,
                                                 const ImportanceName& name, const TestContext& context);

/// Adds tables, plot, examples and verdict to a card. A mean tau whose interval is below .5 speaks against the weights,
/// one from .7 for them.
inline constexpr double kTauAgainst = 0.5, kTauFor = 0.7;
ExplanationResult summarize_agreement(ExplanationResult card, const std::vector<ExplanationRecord>& records,
                                      const ImportanceName& name, const TestSummaryOptions& options);

}  // namespace heed
