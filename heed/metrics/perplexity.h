// Perplexity:   exp(sum_t -log p_t / tokens),   natural logarithms; padding left out, end markers counted.

#pragma once

#include <cmath>
#include <cstdint>

#include "heed/base/check.h"

namespace heed {

/// loss: the sum of -log p over that many tokens.
inline double perplexity(double loss, int64_t tokens) {
  check(tokens > 0, "metrics/perplexity: of ", tokens, " tokens, expected at least 1");
  return std::exp(loss / static_cast<double>(tokens));
}

}  // namespace heed
