// Learning by reward, for alignments that draw (hard, reinforced): REINFORCE (Williams, 1992) with a
// moving baseline and an entropy bonus, as Xu et al. (2015) train hard attention.
//
//   loss = - mean_b [ lam_r (R_b - lam_s s_b - base) log p_b  +  lam_e H_b ]
//   base <- m base + (1 - m) mean_b (R_b - lam_s s_b)          after the loss was formed
//
// log p_b and H_b are summed over heads, queries and channels of batch row b; s_b is the share of keys
// that a policy selected (ReSAN's price for looking at many). The baseline is the only thing by which
// batch rows influence each other, and only from one step to the next.

#pragma once

#include "heed/attention/call.h"

namespace heed {

struct ReinforceOptions {
  double reward_weight = 1;   // lam_r; Xu: 0.1
  double entropy_weight = 0;  // lam_e; Xu: 0.002. Needs Want::entropy
  double selection_cost = 0;  // lam_s; ReSAN: 0.02
  double momentum = 0.9;      // m
  double baseline = 0;        // where it starts
};

class Reinforce {
 public:
  explicit Reinforce(ReinforceOptions options = {});

  /// attended: of a call that sampled. reward [B], larger is better (log p(y), say); no gradient flows
  /// into it. Moves the baseline.
  Tensor loss(const Attended& attended, const Tensor& reward);

  double baseline() const { return baseline_; }
  void set_baseline(double baseline) { baseline_ = baseline; }  // resuming a run

 private:
  ReinforceOptions options_;
  double baseline_;
};

}  // namespace heed
