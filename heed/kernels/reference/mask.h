// Which keys each query may attend, and the positions of queries. A key is kept if every condition keeps it.
//
//   position(i) = i + first_query,   or i + Lk - Lq for Causal::bottom_right (the last query attends all keys)
//   keep[b, h, i, j],   j < key_count[b],   causal: j <= position(i),   position(i) - left <= j <= position(i) + right

#pragma once

#include <cstdint>
#include <vector>

#include "heed/kernels/reference/reference.h"

namespace heed::kernels::reference {

/// The entry of a four-axis array, in which axes of size 1 are broadcast.
template <typename Real>
const Real& spread(const Array<Real>& array, int64_t b, int64_t h, int64_t i, int64_t j) {
  const auto& n = array.shape;
  const auto step = [](int64_t size, int64_t index) { return size == 1 ? 0 : index; };
  return array.data[static_cast<size_t>(((step(n[0], b) * n[1] + step(n[1], h)) * n[2] + step(n[2], i)) * n[3] +
                                        step(n[3], j))];
}

class Mask {
 public:
  template <typename Real>
  explicit Mask(const Problem<Real>& p)
      : keep_(p.keep),
        key_count_(p.key_count),
        causal_(p.causal),
        left_(p.left),
        right_(p.right),
        heads_(p.query.shape[1]),
        queries_(p.query.shape[2]),
        keys_(p.keys.shape[2]),
        first_position_(p.causal == Causal::bottom_right ? keys_ - queries_ : p.first_query) {}

  int64_t position(int64_t i) const { return i + first_position_; }

  bool keeps(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const int64_t ahead = j - position(i);
    if (!key_count_.empty() && j >= key_count_.data[static_cast<size_t>(b)]) return false;
    if (causal_ != Causal::none && ahead > 0) return false;
    if (left_ >= 0 && -ahead > left_) return false;
    if (right_ >= 0 && ahead > right_) return false;
    return keep_.empty() || spread(keep_, b, h, i, j) != 0;
  }

  /// [Lk]: the keys that some query of this head may attend.
  std::vector<uint8_t> reachable(int64_t b, int64_t h) const {
    std::vector<uint8_t> reached(static_cast<size_t>(keys_), 0);
    for (int64_t i = 0; i < queries_; ++i) {
      for (int64_t j = 0; j < keys_; ++j) reached[static_cast<size_t>(j)] |= static_cast<uint8_t>(keeps(b, h, i, j));
    }
    return reached;
  }

  /// S, the true length: key_count, or else one more than the last key that some query of any head may attend.
  int64_t true_length(int64_t b) const {
    if (!key_count_.empty()) return key_count_.data[static_cast<size_t>(b)];
    int64_t length = 0;
    for (int64_t h = 0; h < heads_; ++h) {
      const auto reached = reachable(b, h);
      for (int64_t j = length; j < keys_; ++j) length = reached[static_cast<size_t>(j)] ? j + 1 : length;
    }
    return length;
  }

 private:
  const Array<uint8_t>& keep_;
  const Array<int64_t>& key_count_;
  Causal causal_;
  int64_t left_, right_, heads_, queries_, keys_, first_position_;
};

}  // namespace heed::kernels::reference
