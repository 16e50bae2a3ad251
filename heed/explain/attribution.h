// How much each token of a text counts for an output, by attention and by what it is compared with.
//
//   attention               the weights of the model
//   attention_value_norm    weights times the norm of what they multiply     Kobayashi et al., 2020
//   rollout                 attention rollout through layers                 Abnar & Zuidema, 2020
//   gradient_x_input        gradient of the predicted class times embedding, absolute
//   integrated_gradients    Sundararajan et al., 2017, from embeddings of 0
//   leave_one_out           what the removal of the token does to the output
//   random, uniform         what reads nothing
//
// An attribution is one file in heed/explain/attribution with an entry in the catalogue.

#pragma once

#include <string>

#include "heed/base/catalogue.h"
#include "heed/explain/explained.h"

namespace heed {

class Attribution {
 public:
  static constexpr auto kKind = "attribution";
  using Parts = Catalogue<Attribution>;

  virtual ~Attribution() = default;
  /// Why the model has none; empty: it has.
  virtual std::string why_not(const ExplainedFacts& facts) const = 0;
  /// float [B, P, T], 0 at padding, larger for what counts more. Undefined: this model has none (rollout without
  /// layers). Numbers that are drawn depend on seed and item alone.
  virtual Tensor attribute(ExplainedBatch& batch, uint64_t seed) const = 0;
};

}  // namespace heed
