#include "heed/models/translate/reward.h"

#include "heed/attention/align.h"
#include "heed/attention/mechanism.h"

namespace heed {

std::unique_ptr<RewardLoss> RewardLoss::for_model(const TranslationModel& model, const RewardOptions& options) {
  const Mechanism mechanism = Mechanism::parse(model.attention().spec().mechanism);
  const Offers offers = mechanism.align().offers();
  if (!offers.log_probability) return nullptr;
  const bool multi_dimensional = mechanism.dimensionality() != Dimensionality::single;
  return std::unique_ptr<RewardLoss>(new RewardLoss(model.aligning_step(), options, offers.policy, multi_dimensional));
}

/// Log-probabilities of samples, [B, (H,) T, (W)] -> [B, T]: heads and channels sample independently.
Tensor RewardLoss::by_word(const Tensor& log_p) const {
  const auto tokens = multi_dimensional_ ? log_p.sum(-1) : log_p;
  return tokens.dim() == 3 ? tokens.sum(1) : tokens;
}

Tensor RewardLoss::operator()(const Predicted& predicted, int64_t rows) {
  Attended attended = step_of(predicted.output.steps, step_, "translate");
  const auto log_p = predicted.target_log_probabilities().detach().to(attended.context.scalar_type());
  const int64_t steps = attended.context.size(-2);
  const auto by_position = [&](const Tensor& values) {  // [B, T], 0 beyond the end of a target
    return at::zeros({rows, steps}, values.options()).index_put({predicted.row, predicted.position}, values);
  };
  auto reward = by_position(log_p), tokens = by_position(at::ones_like(log_p));
  if (attended.selected_share.defined()) {  // one sample for all tokens
    reward = reward.sum(1);
    tokens = tokens.sum(1);
  } else {
    attended.log_probability = by_word(attended.log_probability);
  }
  return reinforce_.loss(attended, reward, tokens) * rows;  // loss() is a mean over sentences
}

}  // namespace heed
