#include "heed/explain/explained.h"

#include <ATen/ATen.h>

namespace heed {

Tensor normalized(const Tensor& weights) {
  const Tensor sum = weights.sum(-1, /*keepdim=*/true);
  const Tensor usable = at::isfinite(sum).logical_and(sum > 0);
  return at::where(usable, weights / sum, at::zeros({}, weights.options()));
}

}  // namespace heed
