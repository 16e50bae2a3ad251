// REINFORCE loss of a classifier whose attention samples (hard, reinforced). The reward of every sample for a text is
// the log-probability of its label; that of a number is the negative squared error. Batches with softmax weights are
// trained by the likelihood itself (models/soft_attention.h).

#pragma once

#include <memory>

#include "heed/attention/reinforce.h"
#include "heed/models/classify/label_output.h"

namespace heed {

class LabelReward {
 public:
  struct RewardOptions {
    double weight = 0.1;      // of this loss
    double soft_share = 0.5;  // share of the batches with softmax weights, for hard
  };

  /// The loss for a model whose mechanism has this spec, or this alignment; null if it does not sample.
  static std::unique_ptr<LabelReward> for_mechanism(const std::string& mechanism, const RewardOptions& options);

  bool is_soft(int64_t batch) const;

  /// The loss of a batch that was not soft, summed over texts. predicted, wanted: of the output model.
  Tensor operator()(const Pooled& pooled, const Tensor& predicted, const Tensor& wanted, LabelForm form);

  /// Mean reward so far: the only state of the loss.
  double baseline() const { return reinforce_.baseline(); }
  void set_baseline(double baseline) { reinforce_.set_baseline(baseline); }

 private:
  LabelReward(const RewardOptions& options, double soft_share)
      : soft_share_(soft_share), reinforce_({.reward_weight = options.weight}) {}

  double soft_share_;
  Reinforce reinforce_;
};

/// The log-probability of the label of each text [B], from what LabelOutput::predict() returns; the negative squared
/// error of a number.
Tensor label_log_probability(const Tensor& predicted, const Tensor& wanted, LabelForm form);

}  // namespace heed
