#include "heed/models/translate/reward.h"

#include "heed/attention/mechanism.h"

namespace heed {
namespace {

/// sum_{t >= i} gamma^(t - i) x_t for each i, [B, T].
Tensor discounted_sums(const Tensor& x, double gamma) {
  auto sums = x.clone();
  for (int64_t i = x.size(1) - 2; i >= 0; --i) sums.select(1, i).add_(sums.select(1, i + 1), gamma);
  return sums;
}

}  // namespace

std::unique_ptr<RewardLoss> RewardLoss::for_model(const TranslationModel& model, double weight) {
  const Mechanism mechanism = Mechanism::parse(model.attention().looking().mechanism);
  if (!mechanism.align().offers().log_probability) return nullptr;
  return std::unique_ptr<RewardLoss>(new RewardLoss(model.aligning_step(), weight));
}

Tensor RewardLoss::operator()(const Predicted& predicted, int64_t rows) {
  const Attended& attended = step_of(predicted.answered.steps, step_, "translate");
  const auto log_p = predicted.target_log_probabilities().detach();
  const int64_t steps = predicted.position.max().item<int64_t>() + 1;
  const auto grid = [&](const Tensor& values) {  // [B, T], 0 beyond the end of a target
    return at::zeros({rows, steps}, values.options()).index_put({predicted.row, predicted.position}, values);
  };
  auto reward = grid(log_p), terms = grid(at::ones_like(log_p));
  const char* gamma_text = getenv("HEED_GAMMA");
  const double gamma = gamma_text ? atof(gamma_text) : 1;
  if (attended.selected_share.defined() || gamma < 0) {
    reward = reward.sum(1), terms = terms.sum(1);
    if (gamma < -1) terms = at::ones_like(terms);  // as before
  } else {
    reward = discounted_sums(reward, gamma), terms = discounted_sums(terms, gamma);
  }
  return reinforce_.loss(attended, reward.to(attended.context.scalar_type()), terms) * rows;  // its own is a mean over rows
}

}  // namespace heed
