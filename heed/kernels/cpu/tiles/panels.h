// Packed keys, [panel][feature][key of the panel]: one layout for every score and every instruction set. A panel has 64
// keys, the granularity at which masked keys are skipped; the last panel is padded with zeros to a multiple of 16 keys.

#pragma once

#include <cstdint>

namespace heed::kernels::cpu {

inline constexpr int kPanel = 64;
inline constexpr int kPad = 16;    // widths inside the engine are multiples of it
inline constexpr int kFour = 4;    // features of a panel are a multiple of it: additive scores process four at a time
inline constexpr int kTile = 256;  // keys of a tile: scored, then turned into weights
inline constexpr int kGroup = 24;  // maximal number of rows in a group, the rows that are scored together
inline constexpr int kLongTile = kGroup * kTile;  // keys of a tile if there is a single row

template <class V>
struct Panels {
  using Real = typename V::Real;
  int64_t keys = 0, width = 0;
  const Real* data = nullptr;

  static constexpr int64_t padded(int64_t n) { return (n + kPad - 1) / kPad * kPad; }
  static constexpr int64_t by_four(int64_t width) { return (width + kFour - 1) / kFour * kFour; }
  int64_t count() const { return (keys + kPanel - 1) / kPanel; }
  int columns(int64_t panel) const {
    const int64_t left = keys - panel * kPanel;
    return left >= kPanel ? kPanel : static_cast<int>(padded(left));
  }
  const Real* at(int64_t panel) const { return data + panel * kPanel * width; }

  /// Packs one panel; width is a multiple of the lanes.
  static void pack(const Real* rows, int64_t row, int64_t count, int64_t width, Real* to) {
    const int64_t n = padded(count);
    alignas(64) Real block[kPad][V::kLanes];
    for (int64_t j = 0; j < n; j += kPad)
      for (int64_t f = 0; f < width; f += V::kLanes) {
        for (int64_t i = 0; i < kPad; ++i)
          V::store(block[i], j + i < count ? V::load(rows + (j + i) * row + f) : V::zero());
        transpose(block, V::kLanes, to + f * n + j, n);
      }
  }

  /// to[l n + i] = block[i][l], for `features` of the lanes.
  static void transpose(const Real (&block)[kPad][V::kLanes], int64_t features, Real* to, int64_t n) {
    if constexpr (requires { typename V::Int; }) {
      alignas(64) Real four[4 * V::kLanes];
      for (int64_t i = 0; i < kPad; i += 4) {
        V::interleave(four, V::load(block[i]), V::load(block[i + 1]), V::load(block[i + 2]), V::load(block[i + 3]));
        for (int64_t l = 0; l < features; ++l) __builtin_memcpy(to + l * n + i, four + 4 * l, 4 * sizeof(Real));
      }
    } else {
      for (int64_t l = 0; l < features; ++l)
        for (int64_t i = 0; i < kPad; ++i) to[l * n + i] = block[i][l];
    }
  }
};

}  // namespace heed::kernels::cpu
