// Which key each query may attend. keep, key_count, causal and window compose: a key must pass all.

#pragma once

#include <cstdint>
#include <limits>

#include <torch/types.h>

namespace heed {

using at::Tensor;

/// top_left: key j <= query i. bottom_right: the last query sees the last key, j <= i + Lk - Lq.
enum class Causal { none, top_left, bottom_right };

struct Mask {
  Tensor keep{};       // bool, true = may be attended: [B|1, Lq|1, Lk|1] or [B|1, H|1, Lq|1, Lk|1]
  Tensor key_count{};  // int64 [B]: keys from this one on are padding
  Causal causal = Causal::none;
  int64_t left = -1, right = -1;  // keys at most this far before and after the query's position; -1: no limit

  /// The position of the first query, for a decoder that comes back with one step at a time. Places count
  /// for causal, window, relative, alibi and local_m. With bottom_right they follow from the keys.
  int64_t first_query = 0;

  bool any() const {
    return keep.defined() || key_count.defined() || causal != Causal::none || left >= 0 || right >= 0;
  }
};

/// Where a block of queries lies in its call.
struct BlockRange {
  int64_t first_row = 0, first_query = 0;                  // of the block
  int64_t queries = 0, keys = 0;                           // of the whole call
  int64_t max_keys = std::numeric_limits<int64_t>::max();  // keys from here on cannot be scored
};

/// The position of query 0 of the block; the others follow.
int64_t first_position(const Mask& mask, const BlockRange& block);

/// bool [B|1, H|1, lq|1, Lk, 1]. mask.keep is [B|1, H|1, lq|1, Lk|1] and mask.key_count [B|1], both
/// already cut to the block.
Tensor kept(const Mask& mask, const BlockRange& block, int64_t block_queries, const at::Device& device);

/// What a mask leaves of a whole call, found without a gradient and without an Lq x Lk of its own.
struct Reach {
  Tensor keys;       // bool [B|1, H|1, Lk, 1]: some query may attend it, by the mask
  Tensor values;     // bool [B|1, H|1, Lk, 1]: the same, and it can be scored
  Tensor rows;       // bool [B|1, H|1, Lq, 1]: may attend some key that can be scored
  Tensor key_count;  // int64 [B|1, 1, 1, 1, 1]: as given, else up to the last key that may be attended
};
Reach reach(const Mask& mask, const BlockRange& whole, const at::Device& device);

/// x [B, Hx, L, D] with 0 at what nothing reaches, reached [B|1, H|1, L, 1]. Hx divides H: heads that
/// share a key reach it together. What a NaN in padding was is so gone before any projection.
Tensor without_unreached(const Tensor& x, const Tensor& reached);

}  // namespace heed
