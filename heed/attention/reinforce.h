// Learning by reward, for alignments that draw (hard, reinforced): REINFORCE (Williams, 1992) with a
// moving baseline and an entropy bonus, as Xu et al. (2015) train hard attention.
//
//   loss = - mean_b sum_i [ lam_r (R_bi - lam_s s_b - n_bi base) log p_bi  +  lam_e H_bi ]
//   base <- m base + (1 - m) sum (R_bi - lam_s s_b) / sum n_bi          after the loss is formed
//
// A reward [B] belongs to all choices of a batch element, and log p_b is the sum over its heads, queries and channels.
// A reward [B, Lq] belongs to the choice of one query. n is the number of terms that a reward sums (1 by default): a
// reward that sums the log-probabilities of 30 words is compared with 30 times the mean of a word, so that its length
// is not taken for its quality. s_b is the share of keys that a policy selected (ReSAN's price for looking at many).
// The baseline is the only thing by which batch elements influence each other, and only from one step to the next.

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

  /// attended: of a call that sampled. reward [B] or, where each query chooses for itself, [B, Lq]; larger is better
  /// (log p(y), say); no gradient flows into it. terms: as the reward, how many terms it sums; 1 where undefined. Moves
  /// the baseline.
  Tensor loss(const Attended& attended, const Tensor& reward, const Tensor& terms = {});

  double baseline() const { return baseline_; }
  void set_baseline(double baseline) { baseline_ = baseline; }  // resuming a run

 private:
  ReinforceOptions options_;
  double baseline_;
};

}  // namespace heed
