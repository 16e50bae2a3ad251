// Supervised attention of a classifier: the weights of the words of a text against its rationale.
//
// What is supervised is the weight of each token (token_attention.h). A word gets its share of the rationale, spread
// evenly over its tokens; words that were cut have none. A text whose rationale is empty or 0 has no term.

#pragma once

#include <vector>

#include "heed/data/labeled/rationales.h"
#include "heed/models/classify/model.h"
#include "heed/models/classify/text_reader.h"
#include "heed/models/classify/token_attention.h"
#include "heed/models/supervised_attention.h"

namespace heed {

/// Gold weight of a token of a text.
struct TokenWeight {
  int64_t sentence = 0, token = 0;
  double weight = 0;
};

/// The gold weights of the tokens of a text, which sum to 1; none without a rationale. Throws Error, with its origin,
/// unless it has a weight for each word of the text.
std::vector<TokenWeight> token_weights(const Rationale& rationale, const std::string& text, const TextReader& reader);

class TextSupervision {
 public:
  using Gold = std::vector<std::vector<TokenWeight>>;  // of each example

  /// Throws Error if the attention of the model cannot be supervised so.
  TextSupervision(ClassificationModel& model, Supervision options);

  /// The distance of the weights of a batch from gold, summed over texts with gold; undefined if there are none. The
  /// attention of `pooled` was asked for outputs().
  Tensor distance(const Pooled& pooled, const TextBatch& batch, const Gold& gold) const;
  /// What pool() is to request of the attention model.
  static Outputs outputs() { return TokenAttention::outputs(); }
  double weight() const { return options_.weight; }

 private:
  Supervision options_;
  TokenAttention attention_;
};

}  // namespace heed
