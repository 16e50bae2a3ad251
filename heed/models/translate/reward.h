// Learning by reward, for attention that draws (hard, reinforced).
//
// The choice that `hard` makes for a target word is rewarded with the log-probability of that word, the choice of a
// policy (reinforced) with that of the whole sentence; both are compared with the mean log-probability of a word so
// far, times the number of words. On a share of the batches `hard` uses softmax weights (Xu et al., 2015, section 4.1:
// half of them): these learn by the likelihood itself, and the draws of the other batches start from what they learned.

#pragma once

#include <memory>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/reinforce.h"
#include "heed/models/translate/model.h"

namespace heed {

class RewardLoss {
 public:
  struct RewardOptions {
    double weight = 0.1;
    double soft_share = 0.5;  // of the batches
  };

  /// Nothing, where the model's alignment does not draw.
  static std::unique_ptr<RewardLoss> for_model(const TranslationModel& model, const RewardOptions& options);

  /// Whether this batch of an epoch is one for softmax weights: evenly spread, soft_share of all.
  bool is_soft(int64_t batch) const;

  /// To be added to a loss that is summed over the targets of a batch of so many rows, which was not soft.
  Tensor operator()(const Predicted& predicted, int64_t rows);

  /// All that it remembers.
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

/// While it lives, every `hard` attention of the model uses softmax weights; does nothing where `soft` is false.
class SoftAttention {
 public:
  SoftAttention(torch::nn::Module& model, bool soft);
  SoftAttention(const SoftAttention&) = delete;
  SoftAttention& operator=(const SoftAttention&) = delete;
  ~SoftAttention();

 private:
  std::vector<AttentionImpl*> softened_;
};

}  // namespace heed
