// Internal: masks as tensors, and the keys and queries that a mask leaves in use.

#pragma once

#include <limits>

#include "heed/call.h"

namespace heed {

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
/// counted: whether key_count is needed if the mask has none; otherwise it is left undefined.
Reach reach(const Mask& mask, const BlockRange& whole, const at::Device& device, bool counted = true);

/// Reach::rows alone.
Tensor reached_rows(const Mask& mask, const BlockRange& whole, const at::Device& device);

/// Whether causal and window leave every key to some query, for a mask that keeps all.
bool attends_every_key(const Mask& mask, const BlockRange& whole);

/// x [B, Hx, L, D] with 0 where reached [B|1, H|1, L, 1] is false. Hx divides H: a key that several heads share is
/// reached if one of them reaches it. Applied before any projection, so that a NaN in padding has no effect.
Tensor without_unreached(const Tensor& x, const Tensor& reached);

}  // namespace heed
