// One call for several uses of mechanisms: masks and wants are the same, what is drawn is not.

#pragma once

#include <cstdint>

#include "heed/attention/call.h"

namespace heed {

/// The call for use n. With the same seed, two uses would draw the same numbers; without one, each draws its own.
/// Multiplied, not only added to: a use of a use is then no use of the call itself.
inline Call nth_use(const Call& call, uint64_t n) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // far from any difference of seeds that people choose
  Call own = call;
  if (own.noise.seed != 0) own.noise.seed = (own.noise.seed + n) * kOdd;
  if (call.noise.seed != 0 && own.noise.seed == 0) own.noise.seed = kOdd;  // 0 would draw one of its own
  return own;
}

}  // namespace heed
