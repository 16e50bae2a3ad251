// Perplexity:   exp(sum_t -log p_t / tokens),   natural logarithm; padding excluded, </s> included.

#pragma once

#include <cmath>
#include <cstdint>

#include "heed/base/check.h"

namespace heed {

/// loss: sum of -log p over `tokens` tokens; tokens must be positive.
inline double perplexity(double loss, int64_t tokens) {
  check(tokens > 0, "metrics/perplexity: got ", tokens, " tokens, expected at least 1");
  return std::exp(loss / static_cast<double>(tokens));
}

}  // namespace heed
