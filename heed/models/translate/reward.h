// Learning by reward, for attention that draws (hard, reinforced): the reward of a sentence is its log-probability.

#pragma once

#include <memory>

#include "heed/attention/reinforce.h"
#include "heed/models/translate/model.h"

namespace heed {

class RewardLoss {
 public:
  /// Nothing, where the model's alignment does not draw.
  static std::unique_ptr<RewardLoss> for_model(const TranslationModel& model, double weight);

  /// To be added to a loss that is summed over the targets of a batch of so many rows.
  Tensor operator()(const Predicted& predicted, int64_t rows);

  /// All that it remembers.
  double baseline() const { return reinforce_.baseline(); }
  void set_baseline(double baseline) { reinforce_.set_baseline(baseline); }

 private:
  RewardLoss(std::string step, double weight) : step_(std::move(step)), reinforce_({.reward_weight = weight, .entropy_weight = getenv("HEED_ENT") ? atof(getenv("HEED_ENT")) : 0}) {}
  std::string step_;
  Reinforce reinforce_;
};

}  // namespace heed
