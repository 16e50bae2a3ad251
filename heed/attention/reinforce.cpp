#include "heed/attention/reinforce.h"

#include "heed/parameters.h"

namespace heed {
namespace {

/// [B, ...] -> [B]
Tensor by_row(const Tensor& x) {
  return x.dim() == 1 ? x : x.flatten(1).sum(1);
}

/// [B, (H,) Lq, (W)] -> [B, Lq]
Tensor by_query(const Tensor& x, int64_t query_axis) {
  const auto queries = query_axis == 2 ? x.sum(1) : x;
  return queries.dim() == 3 ? queries.sum(2) : queries;
}

/// The query axis of log p. A module with projections has no head axis in the context, but has one in log p.
int64_t query_axis_of(const Attended& attended, const Tensor& reward) {
  const Tensor& log_p = attended.log_probability;
  if (attended.context.defined() && attended.context.dim() == 4) return 2;
  const bool by_query = reward.defined() && reward.dim() == 2;
  return by_query && log_p.dim() == 3 && log_p.size(1) != reward.size(1) && log_p.size(2) == reward.size(1) ? 2 : 1;
}

}  // namespace

Reinforce::Reinforce(ReinforceOptions options) : options_(options), baseline_(options.baseline) {
  check(options.momentum >= 0 && options.momentum <= 1, "reinforce: momentum is ", options.momentum,
        ", expected 0 to 1");
}

Tensor Reinforce::loss(const Attended& attended, const Tensor& reward, const Tensor& terms) {
  const Tensor& log_probability = attended.log_probability;
  check(log_probability.defined(),
        "reinforce: got no log_probability, expected a call with the alignment hard or reinforced");
  check(attended.plan.sampled, "reinforce: got a call that did not sample; set noise.sample, or train()");
  const bool policy = attended.selected_share.defined();  // one choice for all queries
  const int64_t batch = log_probability.size(0), query_axis = query_axis_of(attended, reward);
  const bool by_element = reward.defined() && reward.dim() == 1 && reward.size(0) == batch;
  const bool each_query = !policy && reward.defined() && reward.dim() == 2 && log_probability.dim() > query_axis &&
                          reward.size(0) == batch && reward.size(1) == log_probability.size(query_axis);
  check(by_element || each_query, "reinforce: got a reward of ", shape_of(reward), ", expected [", batch,
        "], one for each batch element",
        policy || log_probability.dim() <= query_axis
            ? ""
            : ", or [" + std::to_string(batch) + ", " + std::to_string(log_probability.size(query_axis)) +
                  "], one for each query");
  check(!terms.defined() || terms.sizes() == reward.sizes(), "reinforce: got terms of ", shape_of(terms),
        ", expected the shape of the reward, ", shape_of(reward));
  check_like("reinforce: reward", reward, log_probability);
  check(options_.entropy_weight == 0 || attended.entropy.defined(), "reinforce: entropy_weight is ",
        options_.entropy_weight, ", but the call did not request entropy; set outputs.entropy");
  check(options_.selection_cost == 0 || attended.selected_share.defined(), "reinforce: selection_cost is ",
        options_.selection_cost, ", but nothing was selected; expected the alignment reinforced");
  auto gain = reward.detach();
  if (options_.selection_cost != 0)
    gain = gain - options_.selection_cost * by_row(attended.selected_share.detach()) /
                      static_cast<double>(attended.selected_share.numel() / gain.numel());
  const auto count = terms.defined() ? terms.detach().to(gain.scalar_type()) : at::ones_like(gain);
  const auto advantage = gain - baseline_ * count;
  const auto log_p = each_query ? by_query(log_probability, query_axis) : by_row(log_probability);
  auto each = options_.reward_weight * by_row(advantage * log_p);  // [B]
  if (options_.entropy_weight != 0) each = each + options_.entropy_weight * by_row(attended.entropy);
  const double mean = (gain.sum() / count.sum().clamp_min(1e-30)).item<double>();
  baseline_ = options_.momentum * baseline_ + (1 - options_.momentum) * mean;
  return -each.mean();
}

}  // namespace heed
