// A shuffle that is the same on every platform. std::shuffle and the distributions of <random> differ between standard
// libraries, so a seed would give different batches.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace heed {

/// SplitMix64 (Steele, Lea & Flood, 2014): a counter, mixed.
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}

  uint64_t operator()() {
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  /// A random integer of 0 ... n - 1, n at most 2^32, by multiply-shift; the bias is at most n / 2^32.
  uint64_t below(uint64_t n) { return ((*this)() >> 32U) * n >> 32U; }

 private:
  uint64_t state_;
};

/// Fisher-Yates shuffle, from the last item to the first.
template <typename Item>
void shuffle(std::vector<Item>& items, SplitMix& random) {
  for (uint64_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random.below(left)]);
}

}  // namespace heed
