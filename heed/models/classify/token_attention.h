// One weight for each token of a text: how much it counts in what is classified.
//
// The weights are those of the last attention call over the tokens of the text, averaged over queries, heads and
// channels; of a document the weight of a token in its sentence times that of the sentence. There is one query, or a
// few, for each text: its weights cost O(L), as the text itself does.
//
// Other weights a may stand in for those of this call, and of the call over sentences. With r_s the sum of the model's
// own weights in a sentence, 1 of softmax:
//
//   token in its sentence   r_s a_t / sum_s a        sentence   sum_s a / r_s

#pragma once

#include <string>

#include "heed/models/classify/model.h"

namespace heed {

class TokenAttention {
 public:
  /// Looks which calls of the model attend to tokens. key: of the recipe that needs the weights, for messages. head:
  /// from 1; 0: the mean over heads. Throws Error if there is no weight for each token of one text, or no such head.
  TokenAttention(ClassificationModel& model, const std::string& key, int64_t head = 0);

  /// What pool() is to request of the attention model.
  static Outputs outputs() { return {.weights = true}; }
  /// float, of the shape of the token ids of the batch, 0 at padding; as the mechanism has them, so that they need not
  /// sum to 1. `pooled` is of the batch, with outputs().
  Tensor weights(const Pooled& pooled, const TextBatch& batch) const;

  /// Weights of the shape of the token ids of a batch, in place of those that the model computes in the next call of
  /// pool(), for all queries, heads and channels (Call::replace_weights). Not for several calls.
  ReplaceWeights imposed(const Tensor& weights) const;

 private:
  Tensor mean_weights(const Tensor& weights, const Tensor& keep) const;

  int64_t head_ = 0;
  std::string words_, sentences_;                       // names of the steps; sentences_: "" unless texts are documents
  int64_t call_of_words_ = 0, call_of_sentences_ = -1;  // numbers of these calls of the attention model
  bool channels_ = false, by_position_ = false;
};

}  // namespace heed
