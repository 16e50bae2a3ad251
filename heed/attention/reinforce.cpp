#include "heed/attention/reinforce.h"

#include "heed/attention/checked.h"

namespace heed {
namespace {

/// [B, ...] -> [B]
Tensor by_row(const Tensor& x) {
  return x.dim() == 1 ? x : x.flatten(1).sum(1);
}

}  // namespace

Reinforce::Reinforce(ReinforceOptions options) : options_(options), baseline_(options.baseline) {
  check(options.momentum >= 0 && options.momentum <= 1, "reinforce: momentum is ", options.momentum,
        ", expected 0 to 1");
}

Tensor Reinforce::loss(const Attended& attended, const Tensor& reward) {
  const Tensor& log_probability = attended.log_probability;
  check(log_probability.defined(), "reinforce: nothing was drawn; it is for hard and reinforced alignments");
  check(attended.plan.sampled, "reinforce: the call decided and did not sample; set noise.sample, or train()");
  check(reward.defined() && reward.dim() == 1 && reward.size(0) == log_probability.size(0), "reinforce: reward is ",
        shape_of(reward), ", expected [", log_probability.size(0), "], one for each batch row");
  check_like("reinforce: reward", reward, log_probability);
  check(options_.entropy_weight == 0 || attended.entropy.defined(), "reinforce: entropy_weight is ",
        options_.entropy_weight, ", but the call did not want entropy; set want.entropy");
  check(options_.selection_cost == 0 || attended.selected_share.defined(), "reinforce: selection_cost is ",
        options_.selection_cost, ", but nothing was selected; it is for reinforced alignments");
  auto gain = reward.detach();
  if (options_.selection_cost != 0)
    gain = gain - options_.selection_cost * by_row(attended.selected_share.detach()) /
                      static_cast<double>(attended.selected_share.numel() / gain.numel());
  auto each = options_.reward_weight * (gain - baseline_) * by_row(log_probability);
  if (options_.entropy_weight != 0) each = each + options_.entropy_weight * by_row(attended.entropy);
  baseline_ = options_.momentum * baseline_ + (1 - options_.momentum) * gain.mean().item<double>();
  return -each.mean();
}

}  // namespace heed
