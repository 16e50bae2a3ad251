// A trained adversary (Wiegreffe & Pinter, 2019): a classifier a that is to give the outputs of another one, b, by
// attention weights that are as different as possible. Its loss for a text, with b frozen:
//
//   TVD(y_a, y_b) - lambda KL(alpha_a | alpha_b)
//
//   TVD = 1/2 sum_c |y_a,c - y_b,c|; of classes that are independent, mean_c |y_a,c - y_b,c|
//   KL  = sum_t alpha_a,t log((alpha_a,t + e) / (alpha_b,t + e)),  e = 1e-10
//
// alpha: one weight for each token (token_attention.h), divided by their sum. Labels are not read.

#pragma once

#include <string>

#include "heed/models/classify/classifier.h"
#include "heed/models/classify/token_attention.h"

namespace heed {

/// train.adversary of a recipe.
struct AdversaryOptions {
  std::string run{};  // folder of b; "": the model is trained on labels
  double lambda = 1e-3;

  bool active() const { return !run.empty(); }
};
AdversaryOptions read_adversary(const Settings& train);

// Of two models for the same texts, row by row: [N, C] -> [N] or [N, L] -> [N]. Differentiable with respect to a.

/// several: classes are independent.
Tensor output_distance(const Tensor& a, const Tensor& b, bool several);
/// KL(a | b) with e inside its logarithms.
Tensor weight_divergence(const Tensor& a, const Tensor& b);
/// Jensen-Shannon divergence.
Tensor weight_distance(const Tensor& a, const Tensor& b);
/// Weights divided by their sum; a row of 0 stays.
Tensor weight_shares(const Tensor& weights);

class Adversary {
 public:
  /// base: b, which reads the same token ids. Throws Error if one of the models has no weight for each token.
  Adversary(Classifier base, ClassificationModel& model, double lambda);

  /// What pool() is to request of the attention model of a.
  static Outputs outputs() { return TokenAttention::outputs(); }
  /// The loss, summed over the texts of the batch. `pooled` is of model a, with outputs().
  Tensor loss(ClassificationModel& model, const Pooled& pooled, const TextBatch& batch);

  /// Sums over the texts of a batch, in evaluation mode.
  struct Figures {
    double loss = 0, tvd = 0, jsd = 0;
  };
  Figures figures(ClassificationModel& model, const TextBatch& batch);

 private:
  /// Outputs and shares of weights of b.
  struct Answer {
    Tensor outputs, weights;
  };
  Answer base_answer(const TextBatch& batch);

  Classifier base_;
  TokenAttention of_base_, of_model_;
  double lambda_;
  bool several_;
};

}  // namespace heed
