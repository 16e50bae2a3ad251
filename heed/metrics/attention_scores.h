// Every measure of attention against people, over a set: cases (a query and its keys) grouped into items (sentences,
// texts). A figure is the mean over the cases where it is defined; the others are counted. Its interval is that of a
// bootstrap over items.
//
//   correctness, average_precision, roc_auc, precision_at_k, f1_above_mean, f1_of_top    where keys are relevant or not
//   spearman, kendall, partial_spearman                                                   with the gold weights
//   entropy, relative_entropy, support, relative_support                                  of the weights alone
//
// k of precision_at_k is the number of relevant keys of the case. f1_above_mean finds the keys whose weight is above
// the mean weight; f1_of_top finds the same share of the keys in every case, rounded, at least one: the share of
// relevant keys in the set, as ERASER does (DeYoung et al., 2020).

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/metrics/significance.h"

namespace heed {

struct AttentionCase {
  std::vector<double> weights{}, gold{};        // of each key; gold: of people, any scale
  std::vector<bool> relevant{};                 // of each key; empty: gold weights are graded only
  std::vector<std::vector<double>> controls{};  // of partial_spearman; each has a value for each key
};

struct AttentionScoreOptions {
  double top_share = 0;  // of f1_of_top; 0: there is no such figure
  bool spread = true;    // whether weights alone are measured; no baseline of another scale has an entropy
};

using NamedScores = std::vector<std::pair<std::string, std::optional<double>>>;

/// The scores of one case, each figure once, in the same order for every case.
NamedScores attention_scores(const AttentionCase& one, const AttentionScoreOptions& options = {});

/// Cases that leave figures undefined or without meaning.
struct DegenerateCases {
  int64_t one_key = 0;           // a single key
  int64_t no_weight = 0;         // all keys masked: weights are 0
  int64_t constant_weights = 0;  // several keys of equal weight above 0
  int64_t nothing_relevant = 0;  // an empty rationale
  int64_t all_relevant = 0;      // one class
  int64_t constant_gold = 0;     // several keys of equal gold weight
  int64_t tied_at_k = 0;         // several keys, not all of equal weight, tied for the last of the k relevant ones
};

/// A mean over cases; nothing where no case has the figure.
struct MeanFigure {
  std::string name;
  std::optional<double> mean{}, low{}, high{};
  int64_t defined = 0, undefined = 0;  // cases
};

/// The mean of a figure less that of the same figure of another map, over the items where both have it; by a paired
/// bootstrap.
struct MeanDifference {
  double difference = 0, low = 0, high = 0, p = 1;
  int64_t items = 0;
};

/// Collects (sum, count) of each figure for each item, so memory does not grow with keys.
class MeanFigures {
 public:
  void add(const NamedScores& scores, size_t item);
  std::vector<MeanFigure> all(const ResamplingOptions& options = {}) const;
  /// Nothing unless two items have the figure in both. An item counts once, however many cases it has.
  std::optional<MeanDifference> difference_to(const MeanFigures& other, const std::string& name,
                                              const ResamplingOptions& options = {}) const;

 private:
  struct Collected {
    std::string name;
    std::vector<std::vector<double>> rows{};  // of each item: sum, count
    int64_t defined = 0, undefined = 0;
  };
  /// The mean of each item, NaN where it has none; empty if there is no such figure.
  std::vector<double> means_of(const std::string& name) const;

  std::vector<Collected> figures_;
};

class AttentionTally {
 public:
  explicit AttentionTally(const AttentionScoreOptions& options = {}) : options_(options) {}

  /// item: a sentence or a text, from 0; the cases of an item are resampled together.
  void add(const AttentionCase& one, size_t item);

  std::vector<MeanFigure> figures(const ResamplingOptions& options = {}) const { return figures_.all(options); }
  std::optional<MeanDifference> difference_to(const AttentionTally& other, const std::string& name,
                                              const ResamplingOptions& options = {}) const {
    return figures_.difference_to(other.figures_, name, options);
  }
  const DegenerateCases& degenerate() const { return degenerate_; }
  int64_t cases() const { return cases_; }

 private:
  AttentionScoreOptions options_;
  MeanFigures figures_;
  DegenerateCases degenerate_;
  int64_t cases_ = 0;
};

}  // namespace heed
