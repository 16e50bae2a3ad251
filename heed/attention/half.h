// float16 and bfloat16: computed in float, rounded once.

#pragma once

#include "heed/parameters.h"

namespace heed {

inline bool is_half(const Tensor& x) {
  return x.defined() && (x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16);
}

/// x in float if it has a half type. The conversion is in the graph, so its gradient has the type of x.
inline Tensor widened(const Tensor& x) {
  return is_half(x) ? x.to(at::kFloat) : x;
}

inline Parameters widened(const Parameters& given) {
  Parameters all;
  for (const auto& [name, tensor] : given) all.set(name, widened(tensor));
  all.set_sizes(given.sizes());
  return all;
}

}  // namespace heed
