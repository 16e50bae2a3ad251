// Tiny runs for tests: a recipe that trains in a moment, and access to its results.

#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/torch_support/safetensors.h"
#include "heed/train/run/testing_folder.h"
#include "heed/train/trainer.h"

namespace heed::testing {

inline constexpr const char* kTinyRecipe = R"(task: translate
data: {train: grammar, grammar: {train: 200, dev: 10, test: 5}, tokenizer: words}
model:
  embedding: {dim: 8, dropout: 0.2}
  features: {kind: recurrent, dim: 8}
  query: {kind: bahdanau, state_dim: 8, out_dim: 8}
  attention: {mechanism: additive + softmax, dropout: 0.1}
train: {max_steps: 24, max_epochs: 0, batch_tokens: 200, lr: 0.01, checkpoint_every: 5, log_every: 2, validate_every: 10, ema_decay: 0.9}
eval: {tokenize: none, beam: 1}
)";

inline TrainResult train_tiny(const std::string& folder, std::vector<std::string> overrides = {}, TrainCall call = {}) {
  overrides.push_back("run.dir=" + folder);
  call.quiet = true;
  return train(parse_recipe(kTinyRecipe, "tiny", overrides), call);
}

inline TrainResult resume_tiny(const std::string& folder, const std::vector<std::string>& overrides = {}) {
  return train_tiny(folder, overrides, {.resume = true});
}

inline NamedTensors tensors_of(const std::string& run) {
  return load_safetensors(run + "/checkpoint.safetensors").tensors;
}

inline bool same_tensors(const NamedTensors& a, const NamedTensors& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a)
    if (b.count(name) == 0 || !tensor.equal(b.at(name))) return false;
  return true;
}

/// The lines of metrics.jsonl without times.
inline std::vector<nlohmann::json> metrics_without_times(const std::string& run) {
  std::vector<nlohmann::json> lines;
  std::ifstream file(run + "/metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    lines.push_back(nlohmann::json::parse(line));
    lines.back().erase("seconds");
    lines.back().erase("tokens_per_second");
  }
  return lines;
}

}  // namespace heed::testing
