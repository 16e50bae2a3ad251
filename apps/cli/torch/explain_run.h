// heed explain of one run: loads it, trains what its tests need, measures, and keeps what was found in the run's
// folder.
//
//   <run>/explain.json, explain.html          results of all tests, also of earlier calls with the same model, texts,
//   seed
//                                            and version of heed
//   <run>/explain/<test>.records.jsonl        what a test has measured
//   <run>/explain/<name>                      a model that tests need, with <name>.log and <name>.variant.json

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/eval_attention_gold.h"
#include "apps/cli/explain_options.h"
#include "apps/cli/torch/explain_tests.h"

#include "heed/data/explanation.h"

namespace heed::cli {

inline constexpr const char* kExplanationPage = "explain.html";

struct RunExplained {
  Explanation explanation{};
  std::vector<std::string> tests{};     // of this call
  std::vector<std::string> failures{};  // of tests that apply and found nothing
  std::vector<std::string> left{};      // that apply and have no result yet
  int signal = 0;                       // that stopped it
};

/// gold: of --rationales. Throws Error if the run cannot be explained.
RunExplained explain_run(const std::string& run, const ExplainArguments& a, const std::optional<GoldWeights>& gold);

/// train.seed of the run and the options of the call.
VariantOptions variant_options(const std::string& run, const ExplainArguments& a);

}  // namespace heed::cli
