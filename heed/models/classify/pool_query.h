// The query model of a classifier: where the query comes from in a structure that takes one.
//
//   learned   a vector that is learned
//   summary   the summary of the feature model: the last states of a recurrent encoder
//   mean      the mean of the features
//
// A query model is one file in heed/models/classify/query with an entry in the catalogue.

#pragma once

#include "heed/models/components.h"

namespace heed {

class PoolQuery : public torch::nn::Module {
 public:
  static constexpr auto kKind = "text query model";
  using Parts = Catalogue<PoolQuery, Settings>;  // recipe below model.query

  /// Makes the modules, for queries of this width.
  virtual void build(int64_t /*width*/) {}
  /// [B, 1, width] for features [B, L, width] and their summary [B, width].
  virtual Tensor query(const Features& features, const Tensor& summary) = 0;
};

}  // namespace heed
