// Which keys each query may attend. keep, key_count, causal and window combine by logical and.

#pragma once

#include <cstdint>
#include <limits>

#include <ATen/core/Tensor.h>

namespace heed {

using at::Tensor;

/// top_left: query i attends keys j <= i. bottom_right: j <= i + Lk - Lq, so the last query attends the last key.
enum class Causal { none, top_left, bottom_right };

struct Mask {
  Tensor keep{};       // bool, true = may be attended: [B|1, Lq|1, Lk|1] or [B|1, H|1, Lq|1, Lk|1]
  Tensor key_count{};  // int64 [B]: number of keys; the keys after them are padding
  Causal causal = Causal::none;
  int64_t left = -1, right = -1;  // keys at most this far before and after the query's position; -1: no limit

  /// Position of the first query, for a decoder that runs one step at a time. Positions matter for causal, window,
  /// relative, alibi and local_m. With bottom_right they follow from the number of keys, and this must be 0.
  int64_t first_query = 0;

  /// Whether anything is masked.
  bool any() const {
    return keep.defined() || key_count.defined() || causal != Causal::none || left >= 0 || right >= 0;
  }
};

/// Range of a block of queries within its call.
struct BlockRange {
  int64_t first_row = 0, first_query = 0;                  // of the block
  int64_t queries = 0, keys = 0;                           // of the whole call
  int64_t max_keys = std::numeric_limits<int64_t>::max();  // keys from this index on cannot be scored
};

/// Position of query 0 of the block.
int64_t first_position(const Mask& mask, const BlockRange& block);

/// The whole mask as a tensor, bool [B|1, H|1, lq|1, Lk, 1]. mask.keep is [B|1, H|1, lq|1, Lk|1] and mask.key_count
/// [B|1], both already narrowed to the block.
Tensor kept(const Mask& mask, const BlockRange& block, int64_t block_queries, const at::Device& device);

/// Keys and queries of a whole call that the mask leaves in use. Computed without storing an Lq x Lk tensor.
struct Reach {
  Tensor keys;       // bool [B|1, H|1, Lk, 1]: keys that some query may attend
  Tensor values;     // bool [B|1, H|1, Lk, 1]: those that can also be scored
  Tensor rows;       // bool [B|1, H|1, Lq, 1]: queries that may attend some key that can be scored
  Tensor key_count;  // int64 [B|1, 1, 1, 1, 1]: as given, else keys up to the last one that may be attended
};
Reach reach(const Mask& mask, const BlockRange& whole, const at::Device& device);

/// x [B, Hx, L, D] with 0 where reached [B|1, H|1, L, 1] is false. Hx divides H: a key that several heads share is
/// reached if one of them reaches it. Applied before any projection, so that a NaN in padding has no effect.
Tensor without_unreached(const Tensor& x, const Tensor& reached);

}  // namespace heed
