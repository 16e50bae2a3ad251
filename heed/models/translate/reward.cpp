#include "heed/models/translate/reward.h"

#include "heed/attention/mechanism.h"

namespace heed {

std::unique_ptr<RewardLoss> RewardLoss::for_model(const TranslationModel& model, double weight) {
  const Mechanism mechanism = Mechanism::parse(model.attention().looking().mechanism);
  if (!mechanism.align().offers().log_probability) return nullptr;
  return std::unique_ptr<RewardLoss>(new RewardLoss(model.aligning_step(), weight));
}

Tensor RewardLoss::operator()(const Predicted& predicted, int64_t rows) {
  const Attended& attended = step_of(predicted.answered.steps, step_, "translate");
  const Tensor reward = predicted.log_probabilities(rows).detach().to(attended.context.scalar_type());  // [B]
  return reinforce_.loss(attended, reward) * rows;  // its own is a mean over rows
}

}  // namespace heed
