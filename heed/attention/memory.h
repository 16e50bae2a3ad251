// Keys and values projected and packed once, for many queries; append() in Attention makes it a
// key-value cache.

#pragma once

#include <atomic>
#include <memory>

#include <torch/types.h>

namespace heed {

using at::Tensor;

/// A tensor [B, H, L, D] that grows along L. With grad mode off, the capacity is doubled now and then, so that n
/// appends of one row copy O(n) rows in all. Copies share the buffer: who appends first takes the slot,
/// another that shared the same past (a beam) moves into a buffer of its own. With grad mode on, rows are
/// concatenated: autograd may have kept those that are there.
class Growing {
 public:
  Growing() = default;
  explicit Growing(const Tensor& rows) : rows_(rows) {}

  /// All rows so far, or undefined.
  const Tensor& rows() const { return rows_; }
  bool defined() const { return rows_.defined(); }
  Growing with(const Tensor& more) const;

 private:
  struct Capacity {
    Tensor rows;                   // [B, H, capacity, D]
    std::atomic<int64_t> used{0};  // by the longest of those who share it
  };
  Tensor rows_;
  std::shared_ptr<Capacity> capacity_;
};

struct Memory {
  Growing keys;         // as the score prepared them
  Growing align_keys;   // as the alignment prepared them, or undefined
  Growing kernel_keys;  // what the score keeps of them for its kernel, without a gradient, or undefined
  Growing values;       // [B, Hk, Lk, Dv]
  Growing keep;         // bool [B|1, H|1, Lk, 1]: may be attended at all; undefined: all may
  Tensor key_count{};   // int64 [B]: up to the last key that is no padding, if a key_count was given

  int64_t length() const { return values.defined() ? values.rows().size(2) : 0; }
  int64_t batch() const { return values.defined() ? values.rows().size(0) : 0; }
};

}  // namespace heed
