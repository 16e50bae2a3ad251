#include "heed/structures/decode/doubly_stochastic.h"

#include "heed/parameters.h"

namespace heed {

Tensor doubly_stochastic_penalty(const Tensor& weights, const Tensor& keep) {
  check(weights.defined() && (weights.dim() == 2 || weights.dim() == 3), "doubly_stochastic: weights are ",
        shape_of(weights), ", expected [B, T, L], or their sums [B, L]");
  const auto mass = weights.dim() == 3 ? weights.sum(1) : weights;  // [B, L]
  check(!keep.defined() || keep.sizes() == mass.sizes(), "doubly_stochastic: keep is ", shape_of(keep), ", expected ",
        shape_of(mass));
  auto missing = 1 - mass;
  if (keep.defined()) missing = missing.masked_fill(keep.logical_not(), 0.0);
  return missing.square().sum(1);
}

}  // namespace heed
