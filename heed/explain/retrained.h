// Models that are trained anew for a test (Wiegreffe & Pinter, 2019): their names and recipes, what is kept of a text
// for each of them, and their figures side by side.
//
//   run                     the run itself
//   seed_2                  its recipe with another seed
//   uniform_seed_1          with equal weights
//   tokenwise_own_seed_1    without context: uniform, own, of_run, of_adversary
//   adversary_0.001         an adversary with this lambda
//
// A record has for each of them "predicted <name>", a list of classes, and where weights are compared "jsd <name>",
// "tvd <name>": distances from the run.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/explain/test.h"
#include "heed/metrics/significance.h"

namespace heed {

inline constexpr const char* kRunItself = "run";

/// Why tests that train do not apply to a model; empty: they do.
std::string why_not_retrained(const ExplainedFacts& facts);

/// The seeds of the models for a figure: that of the run, and those after it.
std::vector<int64_t> seeds_of(const VariantOptions& options);
/// The recipe of the run with its other seeds.
std::vector<TrainedVariant> other_seeds(const VariantOptions& options);
/// An adversary for each lambda, with the next seed. It has the outputs of the run for every text, not one label, and
/// is trained without dropout: it then comes closer to them, by weights that are further away.
std::vector<TrainedVariant> adversaries(const VariantOptions& options);
std::string adversary_name(double lambda);
/// Without an exponent: 0.0005.
std::string lambda_text(double lambda);
/// name_seed_<n> for each seed of a figure, with more overrides.
std::vector<TrainedVariant> for_each_seed(const VariantOptions& options, const std::string& name,
                                          const std::vector<std::string>& overrides);
/// The override that makes the attention of a run uniform: of its alignment, or where its structure does not take that,
/// of the whole attention model.
std::string uniform_override(const std::string& run);

/// Records of a batch with the gold classes and the predictions of the run and of all variants. The variants' batches,
/// of the same texts, are read one after another and handed over.
using VisitVariant = void (*)(ExplainedBatch& batch, const std::string& name, ExplainedBatch& variant,
                              const TestContext& context, std::vector<ExplanationRecord>& records);
std::vector<ExplanationRecord> measure_variants(ExplainedBatch& batch, const TestContext& context,
                                                VisitVariant visit = nullptr);
/// Adds "jsd <name>" and "tvd <name>" of the weights and the outputs of a variant, "max_weight" of the run, and maps of
/// short texts, "weights <name>".
void add_weight_distances(ExplainedBatch& batch, const std::string& name, ExplainedBatch& variant,
                          const TestContext& context, std::vector<ExplanationRecord>& records);

/// Names of variants in the records that begin with a prefix, in order; of kRunItself that alone.
std::vector<std::string> names_with(const std::vector<ExplanationRecord>& records, const std::string& prefix);
/// The run and its other seeds, as far as records have them.
std::vector<std::string> run_and_seeds(const std::vector<ExplanationRecord>& records);

/// Several models of one kind, whose figures are averaged.
struct TrainedGroup {
  std::string name{};                 // for tables
  std::vector<std::string> models{};  // of records
};

/// F1 (macro; micro where classes are independent) and accuracy of groups with equal numbers of models: the mean over
/// the models, with intervals by bootstrap over texts. The difference is to the first group.
struct GroupFigures {
  std::string name{};
  ExplanationCell f1{}, accuracy{};
  ExplanationCell deviation{};   // of F1 over the models
  ExplanationCell difference{};  // of F1 to the first group
  double p = 1;
};
std::vector<GroupFigures> group_figures(const std::vector<ExplanationRecord>& records,
                                        const std::vector<TrainedGroup>& groups, const TestSummaryOptions& options);
ExplanationTable table_of_groups(const std::string& title, const std::vector<GroupFigures>& figures, size_t models);

/// Difference of the means of two figures over texts that have both, key `one` less `factor` times key `other`.
ExplanationCell mean_difference(const std::vector<ExplanationRecord>& records, const std::string& one,
                                const std::string& other, const TestSummaryOptions& options, double factor = 1);

inline constexpr double kUseful = 0.02;  // of F1: a smaller gain is none

}  // namespace heed
