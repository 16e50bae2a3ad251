// A guide: another classifier whose attention weights are imposed on one that is trained (Wiegreffe & Pinter, 2019).
// The guide is part of the model that it guides, with parameters that are not trained: the saved model has both.

#pragma once

#include "heed/models/classify/token_attention.h"

namespace heed {

class Guide {
 public:
  /// Both read the same token ids. The guide is frozen. Throws Error if one of them has no weight for each token.
  Guide(std::shared_ptr<ClassificationModel> guide, ClassificationModel& guided);

  /// The weights of the guide, of the shape of the token ids, without gradient.
  Tensor weights(const TextBatch& batch) const;
  /// In place of those of the guided model, in one call of its attention.
  ReplaceWeights imposed(const Tensor& weights) const { return to_.imposed(weights); }

 private:
  std::shared_ptr<ClassificationModel> guide_;
  TokenAttention from_, to_;
};

/// train.guide of a recipe.
struct GuideOptions {
  std::string run{};  // folder; "": no guide
};
GuideOptions read_guide(const Settings& train);

}  // namespace heed
