// One step of attention over the edges of a graph, as a backend computes it. Tensors [E, ...] are in the sorted order
// of the edges (heed/base/edges.h).

#pragma once

#include <memory>

#include <ATen/core/Tensor.h>

#include "heed/base/edges.h"
#include "heed/torch_support/recompute.h"

namespace heed::backend {

enum class GraphStep {
  scores,  // receiver, sender, to_scores -> scores [E, H]
  sum,     // weights, values -> context [N, H, D]
  attend,  // receiver, sender, to_scores, values, factor -> context, weights: softmax in one pass
};

struct GraphRecord {
  GraphStep step = GraphStep::attend;
  std::shared_ptr<const Edges> edges{};
  double negative_slope = 0.2;  // of LeakyReLU
  bool weights = false;         // attend: return the weights
  Tensors in{};                 // in the order of GraphStep; undefined ones allowed
  Step composed{};              // the same step with torch operations, for second derivatives
};

}  // namespace heed::backend
