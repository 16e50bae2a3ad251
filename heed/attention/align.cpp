#include "heed/attention/align.h"

namespace heed {

Tensor Draw::uniform(const Tensor& scores) const {
  if (given.defined()) return given.expand_as(scores);
  return draws.uniform(kAlignment, scores.sizes(), scores.options());
}

Tensor Draw::policy(const Tensor& like) const {
  Draws once = draws;
  once.first_query = 0;
  const std::vector<int64_t> shape{like.size(0), like.size(1), 1, like.size(2)};
  return once.uniform(kPolicy, shape, like.options()).view_as(like);
}

Tensor absent(const Tensor& x, const Tensor& keep) {
  const auto dead = keep.any(kKeyAxis, /*keepdim=*/true).logical_not();
  return x.masked_fill(keep.logical_not(), -INFINITY).masked_fill(dead, 0.0);
}

Aligned normalized(const Tensor& x, const Tensor& keep) {
  const auto scores = absent(x, keep);
  const auto lse = scores.logsumexp(kKeyAxis, /*keepdim=*/true);
  const auto log_weights = (scores - lse).masked_fill(keep.logical_not(), -INFINITY);
  const auto dead = keep.any(kKeyAxis).logical_not();
  return {.weights = at::exp(log_weights),
          .log_weights = log_weights,
          .lse = lse.squeeze(kKeyAxis).masked_fill(dead, -INFINITY)};
}

Tensor passing_on(const Tensor& weights, const Tensor& row) {
  return weights.masked_fill(row.detach().isnan(), NAN);
}

Tensor best_key(const Tensor& x, const Tensor& keep) {
  const auto scores = absent(x.detach(), keep);
  const auto best = scores.argmax(kKeyAxis, /*keepdim=*/true);
  const auto chosen = at::zeros_like(scores).scatter(kKeyAxis, best, 1.0);
  return passing_on(chosen, scores.amax(kKeyAxis, /*keepdim=*/true)).masked_fill(keep.logical_not(), 0.0);
}

}  // namespace heed
