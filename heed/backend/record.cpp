#include "heed/backend/record.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace heed::backend {

Mask CallRecord::mask() const {
  Mask filled = call.mask;
  filled.keep = in[kKeep];
  filled.key_count = in[kKeyCount];
  return filled;
}

Attended attended_from(const Tensors& out) {
  Attended a;
  a.context = out[kContext];
  a.weights = out[kWeights];
  a.lse = out[kLse];
  a.entropy = out[kEntropy];
  a.column_mass = out[kColumnMass];
  a.top_weights = out[kTopWeights];
  a.top_keys = out[kTopKeys];
  a.link_log_weights = out[kLinks];
  a.log_probability = out[kLogProbability];
  a.selected = out[kSelected];
  a.selected_share = out[kSelectedShare];
  return a;
}

Tensor repeat_heads(const Tensor& x, int64_t heads) {
  if (!x.defined() || x.size(1) == heads) return x;
  const int64_t times = heads / x.size(1);
  return x.unsqueeze(2).expand({-1, -1, times, -1, -1}).flatten(1, 2);
}

std::pair<Tensor, Tensor> top_of(const Tensor& weights, int64_t count) {
  const int64_t some = std::min(count, weights.size(kKeyAxis));
  const auto found_first =
      weights.detach().masked_fill(weights.detach() == 0, -INFINITY);  // zeros sort after negative weights
  const auto order = std::get<1>(found_first.sort(/*stable=*/true, kKeyAxis, /*descending=*/true));
  auto keys = order.narrow(kKeyAxis, 0, some);
  auto found = weights.gather(kKeyAxis, keys);
  const auto none = found.detach() == 0;
  keys = keys.masked_fill(none, -1);
  found = found.masked_fill(none, 0.0);  // without a gradient, which a weight of straight_through would have
  return {at::constant_pad_nd(found, {0, 0, 0, count - some}), at::constant_pad_nd(keys, {0, 0, 0, count - some}, -1)};
}

}  // namespace heed::backend
