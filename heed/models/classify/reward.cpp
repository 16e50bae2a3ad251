#include "heed/models/classify/reward.h"

#include "heed/attention/align.h"
#include "heed/attention/mechanism.h"
#include "heed/models/soft_attention.h"

namespace heed {

Tensor label_log_probability(const Tensor& predicted, const Tensor& wanted, LabelForm form) {
  constexpr double kLeast = 1e-30;  // the log of a probability that underflows is finite
  switch (form) {
    case LabelForm::one:
      return predicted.gather(1, wanted.unsqueeze(1)).squeeze(1).clamp_min(kLeast).log();
    case LabelForm::several:
      return at::where(wanted > 0.5, predicted, 1 - predicted).clamp_min(kLeast).log().sum(1);
    case LabelForm::number:
      return -(predicted.squeeze(1) - wanted).square();
    case LabelForm::tokens: {
      const Tensor labeled = wanted >= 0;
      const Tensor log_p = predicted.gather(2, wanted.clamp_min(0).unsqueeze(2)).squeeze(2).clamp_min(kLeast).log();
      return log_p.masked_fill(labeled.logical_not(), 0.0).sum(1);
    }
  }
  return {};
}

std::unique_ptr<LabelReward> LabelReward::for_mechanism(const std::string& mechanism, const RewardOptions& options) {
  const bool alone = mechanism.find('+') == std::string::npos;  // inside a structure that computes its own scores
  const Offers offers = Mechanism::parse(alone ? "dot + " + mechanism : mechanism).align().offers();
  if (!offers.log_probability) return nullptr;
  return std::unique_ptr<LabelReward>(new LabelReward(options, offers.policy ? 0 : options.soft_share));
}

bool LabelReward::is_soft(int64_t batch) const {
  return is_soft_batch(soft_share_, batch);
}

Tensor LabelReward::operator()(const Pooled& pooled, const Tensor& predicted, const Tensor& wanted, LabelForm form) {
  const Tensor reward = label_log_probability(predicted.detach(), wanted, form);
  const int64_t rows = reward.size(0);
  Tensor sum;
  for (const auto& [name, attended] : pooled.output.steps) {
    if (!attended.log_probability.defined()) continue;
    const int64_t own = attended.log_probability.size(0);  // the sentences of documents are batch elements
    const Tensor one =
        reinforce_.loss(attended, reward.repeat_interleave(own / rows).to(attended.log_probability.scalar_type()));
    sum = sum.defined() ? sum + one * own : one * own;
  }
  return sum;
}

}  // namespace heed
