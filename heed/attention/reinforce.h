// REINFORCE (Williams, 1992) for alignments that sample (hard, reinforced), with a moving-average baseline and an
// entropy bonus, as Xu et al. (2015) train hard attention.
//
//   loss = - mean_b sum_i [ lam_r (R_bi - lam_s s_b - n_bi base) log p_bi  +  lam_e H_bi ]
//   base <- m base + (1 - m) sum (R_bi - lam_s s_b) / sum n_bi          after the loss is formed
//
// A reward [B] applies to all samples of a batch element, and log p_b is the sum over its heads, queries and channels.
// A reward [B, Lq] applies to the sample of one query. n is the number of terms that a reward sums (1 by default): a
// reward that sums the log-probabilities of 30 tokens is compared with 30 times the mean per token, so that length does
// not count as quality. s_b is the share of keys that a policy selected (ReSAN's penalty for selecting many). Batch
// elements influence each other only through the baseline, and only from one step to the next.

#pragma once

#include "heed/call.h"

namespace heed {

struct ReinforceOptions {
  double reward_weight = 1;   // lam_r; Xu: 0.1
  double entropy_weight = 0;  // lam_e; Xu: 0.002. Requires Outputs::entropy
  double selection_cost = 0;  // lam_s; ReSAN: 0.02
  double momentum = 0.9;      // m
  double baseline = 0;        // initial value
};

class Reinforce {
 public:
  explicit Reinforce(ReinforceOptions options = {});

  /// The loss, a scalar; updates the baseline. attended: of a call that sampled. reward: [B], or [B, Lq] if each query
  /// samples its own key; larger is better, for example log p(y); it gets no gradient. terms: shape of the reward, the
  /// number of terms that it sums; undefined: 1.
  Tensor loss(const Attended& attended, const Tensor& reward, const Tensor& terms = {});

  double baseline() const { return baseline_; }
  void set_baseline(double baseline) { baseline_ = baseline; }  // resuming a run

 private:
  ReinforceOptions options_;
  double baseline_;
};

}  // namespace heed
