// REINFORCE loss for attention that samples (hard, reinforced).
//
// The reward of a sample of `hard` is the log-probability of its target token; the reward of a sample of a policy
// (reinforced) is that of the whole sentence. The baseline is the mean log-probability of a token so far, times the
// number of tokens. On a share of the batches `hard` uses softmax weights (Xu et al., 2015, section 4.1: half of them):
// these batches are trained by the likelihood itself, and sampling in the others starts from what they learned.

#pragma once

#include <memory>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/reinforce.h"
#include "heed/models/soft_attention.h"
#include "heed/models/translate/model.h"

namespace heed {

class RewardLoss {
 public:
  struct RewardOptions {
    double weight = 0.1;      // of this loss
    double soft_share = 0.5;  // share of the batches with softmax weights
  };

  /// The loss for a model; null if the model's alignment does not sample.
  static std::unique_ptr<RewardLoss> for_model(const TranslationModel& model, const RewardOptions& options);

  /// Whether this batch of an epoch uses softmax weights: soft_share of all batches, evenly spread.
  bool is_soft(int64_t batch) const { return is_soft_batch(soft_share_, batch); }

  /// The loss of a batch of `rows` sentences that was not soft. Add it to a loss summed over the targets.
  Tensor operator()(const Predicted& predicted, int64_t rows);

  /// Mean log-probability of a token so far: the only state of the loss.
  double baseline() const { return reinforce_.baseline(); }
  void set_baseline(double baseline) { reinforce_.set_baseline(baseline); }

 private:
  RewardLoss(std::string step, const RewardOptions& options, bool by_policy, bool multi_dimensional)
      : step_(std::move(step)),
        soft_share_(by_policy ? 0 : options.soft_share),
        multi_dimensional_(multi_dimensional),
        reinforce_({.reward_weight = options.weight}) {}
  Tensor by_word(const Tensor& log_p) const;

  std::string step_;
  double soft_share_;
  bool multi_dimensional_;
  Reinforce reinforce_;
};

}  // namespace heed
