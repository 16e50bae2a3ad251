// Supervised attention: a term of the loss that pulls the attention weights a of a query towards gold weights a*, which
// sum to 1 (Liu L. et al., 2016; Liu S. et al., 2017; Liu C. et al., 2017).
//
//   cross_entropy    - sum_j a*_j log a_j
//   squared_error      sum_j (a*_j - a_j)^2
//
// Gold is sparse: a list of links, each with its a*. A query without gold has no term. The cross entropy needs the
// log-weights at links alone; the squared error also needs sum_j a_j^2 of every query that has gold:
//
//   sum_j (a*_j - a_j)^2 = sum a*^2 - 2 sum a* a + sum a^2

#pragma once

#include <string>

#include "heed/base/recipe_keys.h"
#include "heed/call.h"

namespace heed {

enum class SupervisionLoss { cross_entropy, squared_error };

/// train.supervision of a recipe.
struct Supervision {
  SupervisionLoss loss = SupervisionLoss::cross_entropy;
  double weight = 0;  // of the term; 0: attention is not supervised
  int64_t head = 0;   // from 1; 0: every head, whose terms are averaged

  bool active() const { return weight > 0; }
};

/// Reads train.supervision. has_gold: whether the recipe names gold for training, whose default weight is 1.
Supervision read_supervision(const Settings& train, bool has_gold);

/// The least weight that a logarithm is taken of: a gold key with weight 0 has a finite term and no gradient.
inline constexpr double kLeastWeight = 1e-30;

/// - sum a* log a over links, from the log-weights there.
Tensor link_cross_entropy(const Tensor& log_weights, const Tensor& gold);

/// sum_j (a*_j - a_j)^2 over links and queries. squares: sum_j a_j^2 of each query, any shape.
Tensor link_squared_error(const Tensor& log_weights, const Tensor& gold, const Tensor& squares);

/// The term of whole rows of weights, [N, L]; a row of gold that is 0 has none.
Tensor row_loss(SupervisionLoss loss, const Tensor& weights, const Tensor& gold);

}  // namespace heed
