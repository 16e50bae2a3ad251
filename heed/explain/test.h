// A test of attention as an explanation. It measures texts one batch at a time and keeps a small record of each; what
// it found is computed from the records alone, so a run of tests can be stopped and go on, and holds no weights of a
// whole data set.
//
//   gradients             Kendall tau of weights and gradients                     Jain & Wallace, 2019
//   leave_one_out         Kendall tau of weights and what a token's removal does
//   permutation           outputs under permuted weights
//   adversarial_weights   the most different weights with the same output
//   uniform               the model trained with equal weights                     Wiegreffe & Pinter, 2019
//   seeds                 weights of other seeds
//   guide                 weights imposed on a model without context
//   adversary             a model trained to give the same outputs by other weights
//   erasure               comprehensiveness, sufficiency, decisions that flip      DeYoung et al., 2020
//   plausibility          weights and rationales of people
//
// A test is one file in heed/explain/test with an entry in the catalogue.

#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "heed/base/catalogue.h"
#include "heed/data/explanation.h"
#include "heed/explain/explained.h"

namespace heed {

/// What a test keeps of a text: numbers by name, and what a plot or an example needs. "item" is added by the runner.
using ExplanationRecord = nlohmann::ordered_json;

/// A model that a test needs besides the run: the run's recipe, trained with other values of some keys.
struct TrainedVariant {
  std::string name{};                    // "seed_2": folder below the run's explain folder
  std::vector<std::string> overrides{};  // "train.seed=2"
};

/// What a test knows besides the batch.
struct TestContext {
  ExplainedModel* model = nullptr;
  std::map<std::string, ExplainedModel*> variants{};  // by TrainedVariant::name, with the same texts
  std::vector<std::vector<double>> rationales{};      // [item][word] weights of people; empty: none are given
  uint64_t seed = 1;                                  // numbers drawn for a text depend on seed and item alone
};

struct TestSummaryOptions {
  const ExplainedModel* model = nullptr;  // for texts and names of classes
  int64_t samples = 1000;                 // of bootstraps
  uint64_t seed = 1;
  size_t examples = 3;    // of each kind, best and worst
  size_t min_texts = 20;  // for a verdict: a bootstrap of fewer finds what is not there
};

/// What the options of the command say to tests that train variants.
struct VariantOptions {
  std::string run{};                              // folder of the run; overrides may name it
  int64_t seeds = 3;                              // models for each figure
  std::vector<double> lambdas{0.0, 0.001, 0.01};  // of the adversary
  int64_t run_seed = 1;                           // train.seed of the run itself
};

class ExplanationTest {
 public:
  static constexpr auto kKind = "explanation test";
  using Parts = Catalogue<ExplanationTest>;

  virtual ~ExplanationTest() = default;

  /// Title, paper, means and means_not; the test's own name is filled in by who made it.
  virtual ExplanationResult card() const = 0;
  /// Why it does not apply; empty: it does. has_rationales: whether TestContext has them.
  virtual std::string why_not(const ExplainedFacts& facts, bool has_rationales) const = 0;
  /// The models that it needs; none of most tests.
  virtual std::vector<TrainedVariant> variants(const VariantOptions&) const { return {}; }
  /// A record for each text of the batch, in order. Numbers are finite; what is undefined is absent, and counted by a
  /// key "undefined_<reason>".
  virtual std::vector<ExplanationRecord> measure(ExplainedBatch& batch, const TestContext& context) const = 0;
  /// card() with tables, plots, examples, verdict. records: in the order of items.
  virtual ExplanationResult summarize(const std::vector<ExplanationRecord>& records,
                                      const TestSummaryOptions& options) const = 0;
};

}  // namespace heed
