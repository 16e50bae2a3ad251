// Reinforced alignment (ReSAN; Shen et al., 2018): a policy selects a subset of the keys, and softmax weights it.
//
//   f_j = [k_j; mean k; k_j mean k]       logit_j = w . act(W f_j + b) + b'       pi = sigmoid(logit)
//   z_j ~ Bernoulli(pi_j), or 1[pi_j > 1/2] without sampling
//   a_j = z_j exp(e_j) / sum_l z_l exp(e_l)
//
// The subset is the same for all queries of a call and has no gradient: the policy is trained by REINFORCE, through
// log p(z) = sum_j log(pi_j or 1 - pi_j) (see Reinforce). If no selected key may be attended by a query, its weights
// are 0; with fallback they are softmax over all keys that it may attend.
//
// The policy is initialized to select nearly all keys, pi = sigmoid(2) = 0.88, and learns which to leave out.
// Initialized at 1/2 it would hide half of the input from an untrained model, and the reward could not tell what was
// missing.

#include "heed/attention/activation.h"
#include "heed/attention/align.h"

namespace heed {
namespace {

constexpr double kFirstLogit = 2;

class Reinforced final : public Alignment {
 public:
  explicit Reinforced(const Options& options) : act_(options), fallback_(options.flag("fallback")) {}

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    return {{"from_keys", {s.hidden_dim, 3 * s.key_dim}},
            {"bias", {s.hidden_dim}, kZeros},
            {"to_logit", {1, s.hidden_dim}},
            {"logit_bias", {1}, {Initial::constant, kFirstLogit}}};
  }

  Tensor prepare_keys(const Parameters& p, const Tensor& keys, const Tensor& reachable) const override {
    const auto count = reachable.sum(2, /*keepdim=*/true).clamp_min(1);
    const auto mean = keys.masked_fill(reachable.logical_not(), 0.0).sum(2, /*keepdim=*/true) / count;
    const auto features = at::cat({keys, mean.expand_as(keys), keys * mean}, -1);
    const auto hidden = act_(project(features, p["from_keys"], p["bias"]));
    return project(hidden, p["to_logit"], p["logit_bias"]);  // logits [B, H, Lk, 1]
  }

  Aligned align(const Parameters&, const Scored& in) const override {
    const auto selected = choose(in.keys, in.draw).to(at::kBool).unsqueeze(2);  // [B, H, 1, Lk, 1]
    auto keep = in.keep.logical_and(selected);
    if (fallback_) keep = keep.logical_or(in.keep.logical_and(keep.any(kKeyAxis, true).logical_not()));
    return normalized(in.scores, keep);
  }

  Policy policy(const Parameters&, const Tensor& logits, const Tensor& reachable, const Draw& draw) const override {
    const auto selected = choose(logits, draw).masked_fill(reachable.logical_not(), 0.0);
    const auto log_p = at::where(selected > 0, at::log_sigmoid(logits), at::log_sigmoid(-logits));
    const auto count = reachable.expand_as(selected).sum({2, 3}).clamp_min(1);
    return {.selected = selected.squeeze(-1),
            .log_probability = log_p.masked_fill(reachable.logical_not(), 0.0).sum({2, 3}),
            .share = selected.sum({2, 3}) / count};
  }

  Offers offers() const override { return {.lse = true, .log_probability = true, .policy = true}; }
  bool looks_at_keys() const override { return true; }
  bool appendable() const override { return false; }

 private:
  /// 0 or 1 for each key, [B, H, Lk, 1].
  static Tensor choose(const Tensor& logits, const Draw& draw) {
    const auto pi = at::sigmoid(logits.detach());
    return (draw.sample ? draw.policy(pi) < pi : pi > 0.5).to(pi.scalar_type());
  }

  Activation act_;
  bool fallback_;
};

const Catalogue<Alignment>::Entry reinforced_entry{"reinforced",
                                                   make_part<Alignment, Reinforced>,
                                                   {.formula = "z_j exp(e_j) / sum z exp(e), z_j ~ Bernoulli(pi_j)",
                                                    .paper = "Shen et al., 2018",
                                                    .cost = "Lk Dh Dk + Lq Lk",
                                                    .choose = "the region to attend must be chosen; learns by reward",
                                                    .variants = {"reinforced(fallback)"},
                                                    .synonyms = {"resan"},
                                                    .order = 12}};

}  // namespace
}  // namespace heed
