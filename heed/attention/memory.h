// Keys and values that are projected and packed once for many queries. With Attention::append() it is a key-value
// cache.

#pragma once

#include <atomic>
#include <memory>

#include <torch/types.h>

namespace heed::backend {
class Backend;
}

namespace heed {

using at::Tensor;

/// A tensor [B, H, L, D] that grows along L. With grad mode off, capacity doubles when it is exceeded, so n appends of
/// length 1 copy O(n) vectors in total. Copies share the buffer: the first copy to append continues in it, another copy
/// with the same prefix (a beam) moves to a new buffer. With grad mode on, tensors are concatenated, because autograd
/// may have saved the existing one.
class Growing {
 public:
  Growing() = default;
  explicit Growing(const Tensor& rows) : rows_(rows) {}

  /// The whole tensor [B, H, L, D], or undefined.
  const Tensor& rows() const { return rows_; }
  bool defined() const { return rows_.defined(); }
  /// This with `more` [B, H, n, D] appended.
  Growing with(const Tensor& more) const;
  /// These elements of the batch, int64 [n], with the same capacity: what is appended next needs no other copy.
  Growing select(const Tensor& batch) const;

 private:
  struct Capacity {
    Tensor rows;                   // [B, H, capacity, D]
    std::atomic<int64_t> used{0};  // length of the longest copy that shares it
  };
  Tensor rows_;
  std::shared_ptr<Capacity> capacity_;
};

/// Made by Attention::prepare().
struct Memory {
  Growing keys;         // result of Score::prepare_keys
  Growing align_keys;   // result of Alignment::prepare_keys, or undefined
  Growing packed_keys;  // what a backend keeps next to the keys, without a gradient, or undefined
  const backend::Backend* packed_by = nullptr;
  Growing values;        // [B, Hk, Lk, Dv]
  Growing keep;          // bool [B|1, H|1, Lk, 1]: may be attended; undefined: all may
  Tensor key_count{};    // int64 [B]: keys up to the last one that is not padding, if a key_count was given
  bool counted = false;  // keep is what key_count says, and no more

  /// Number of keys.
  int64_t length() const { return values.defined() ? values.rows().size(2) : 0; }
  int64_t batch() const { return values.defined() ? values.rows().size(0) : 0; }
};

}  // namespace heed
