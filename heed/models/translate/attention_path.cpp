#include "heed/models/translate/attention_path.h"

#include "heed/models/attention_path.h"

namespace heed {
namespace {

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
  return described_paths(steps, user_of);
}

}  // namespace heed
