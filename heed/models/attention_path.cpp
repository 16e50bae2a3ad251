#include "heed/models/attention_path.h"

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

}  // namespace

std::string described_paths(const Steps& steps, std::string (*user_of)(const std::string& step)) {
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
