#include "heed/models/translate/attention_path.h"

#include <algorithm>

#include "heed/base/check.h"

namespace heed {
namespace {

std::string described_plan(const Plan& plan) {
  if (plan.path == Path::fused) return "fused, kernel " + plan.kernel;
  if (plan.path != Path::composed) return to_string(plan.path) + ", torch operations";
  for (const auto& [path, reason] : plan.rejected)
    if (path == Path::fused) return "composed of torch operations, slower than a kernel: " + reason;
  return "composed of torch operations";
}

/// "layers.0.self" of the encoder -> "encoder"
std::string user_of(const std::string& step) {
  if (step.starts_with("encoder.")) return "encoder";
  return step.ends_with("self") ? "decoder" : "cross-attention";
}

}  // namespace

std::string described_paths(TranslationModel& model, const PairBatch& batch) {
  if (!model.attention().has_weights()) return "attention: none, one context for all words";
  const at::NoGradGuard no_grad;
  const bool training = model.is_training();
  model.eval();  // nothing is drawn, and no draw is counted
  const Steps steps = model.attention_steps(batch);
  model.train(training);
  std::vector<std::pair<std::string, std::vector<std::string>>> paths;  // with their users
  for (const auto& [name, attended] : steps) {
    const std::string path = described_plan(attended.plan), user = user_of(name);
    auto found = std::find_if(paths.begin(), paths.end(), [&](const auto& entry) { return entry.first == path; });
    if (found == paths.end()) found = paths.insert(paths.end(), {path, {}});
    if (std::find(found->second.begin(), found->second.end(), user) == found->second.end())
      found->second.push_back(user);
  }
  if (paths.size() == 1) return "attention: " + paths[0].first;
  std::vector<std::string> all;
  for (const auto& [path, users] : paths) all.push_back(joined(users, " and ") + ": " + path);
  return "attention: " + joined(all, "; ");
}

}  // namespace heed
