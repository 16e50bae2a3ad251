#include "heed/backend/mask.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

namespace heed {

int64_t first_position(const Mask& mask, const BlockRange& block) {
  const bool from_the_end = mask.causal == Causal::bottom_right;
  return block.first_query + (from_the_end ? block.keys - block.queries : mask.first_query);
}

Tensor kept(const Mask& mask, const BlockRange& block, int64_t block_queries, const at::Device& device) {
  const auto whole = at::TensorOptions().dtype(at::kLong).device(device);
  const auto key = at::arange(block.keys, whole).view({1, 1, 1, -1, 1});
  auto keep = key < block.max_keys;
  if (mask.keep.defined()) keep = keep.logical_and(mask.keep.unsqueeze(-1));
  if (mask.key_count.defined()) keep = keep.logical_and(key < mask.key_count.view({-1, 1, 1, 1, 1}));
  if (mask.causal == Causal::none && mask.left < 0 && mask.right < 0) return keep;

  const int64_t first = first_position(mask, block);
  const auto query = at::arange(first, first + block_queries, whole).view({1, 1, -1, 1, 1});
  if (mask.causal != Causal::none) keep = keep.logical_and(key <= query);
  if (mask.left >= 0) keep = keep.logical_and(key >= query - mask.left);
  if (mask.right >= 0) keep = keep.logical_and(key <= query + mask.right);
  return keep;
}

namespace {

/// Keys that some query may attend, and queries that may attend some key that can be scored.
struct Reachability {
  Tensor keys, rows;  // [B|1, H|1, Lk], [B|1, H|1, Lq]
};

/// For a keep that differs between queries: block by block, so that Lq x Lk is never stored.
Reachability by_looking(const Mask& mask, const BlockRange& whole, const Tensor& scored) {
  constexpr int64_t kAtOnce = 256;
  BlockRange block = whole;
  block.max_keys = whole.keys;
  Reachability found{at::zeros({1, 1, whole.keys}, scored.options()), {}};
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < whole.queries; i += kAtOnce) {
    const int64_t count = std::min(kAtOnce, whole.queries - i);
    Mask part = mask;
    part.keep = mask.keep.narrow(2, i, count);
    block.first_query = i;
    const auto keep = kept(part, block, count, scored.device()).squeeze(-1);  // [B|1, H|1, count, Lk]
    found.keys = found.keys.logical_or(keep.any(2));
    rows.push_back(keep.logical_and(scored).any(3));
  }
  if (rows.empty()) rows.push_back(at::zeros({mask.keep.size(0), mask.keep.size(1), 0}, scored.options()));
  found.rows = at::cat(rows, 2);
  return found;
}

/// For a mask that is the same for all queries.
Reachability at_once(const Mask& mask, const BlockRange& whole, const Tensor& scored) {
  BlockRange all = whole;
  all.max_keys = whole.keys;
  const auto keys = kept(mask, all, whole.queries, scored.device()).squeeze(-1).squeeze(2);  // [B|1, H|1, Lk]
  const auto row = keys.logical_and(scored).any(-1, /*keepdim=*/true);
  return {keys, row.expand({row.size(0), row.size(1), whole.queries})};
}

/// The same with causal and window, where each query attends one interval of keys and each key is attended by one
/// interval of queries.
Reachability by_counting(const Mask& mask, const BlockRange& whole, const Tensor& scored) {
  const auto numbers = scored.options().dtype(at::kLong);
  const int64_t first = first_position(mask, whole), far = whole.keys + whole.queries + first;
  const int64_t left = mask.left >= 0 ? std::min(mask.left, far) : far;
  const int64_t right = mask.causal != Causal::none ? 0 : mask.right >= 0 ? std::min(mask.right, far) : far;
  const auto key = at::arange(whole.keys, numbers), position = at::arange(first, first + whole.queries, numbers);
  Mask same = mask;
  same.causal = Causal::none;
  same.left = same.right = -1;
  const auto kept_for_all = at_once(same, whole, scored).keys;
  const auto in_reach = (key - right).clamp_min(first) <= (key + left).clamp_max(first + whole.queries - 1);
  // Number of kept keys before key j: a query attends some key if it grows along the query's interval.
  const auto before = at::constant_pad_nd(kept_for_all.logical_and(scored).cumsum(-1), {1, 0});  // [B|1, H|1, Lk + 1]
  const auto begin = (position - left).clamp(0, whole.keys), end = (position + right + 1).clamp(0, whole.keys);
  return {kept_for_all.logical_and(in_reach), before.index_select(-1, end) > before.index_select(-1, begin)};
}

}  // namespace

Reach reach(const Mask& mask, const BlockRange& whole, const at::Device& device) {
  const at::NoGradGuard no_grad;
  const auto numbers = at::TensorOptions().dtype(at::kLong).device(device);
  if (!mask.any() && whole.keys <= whole.max_keys) {
    const auto all = at::ones({1, 1, std::max(whole.keys, whole.queries), 1}, numbers.dtype(at::kBool));
    const auto keys = all.narrow(2, 0, whole.keys);
    return {keys, keys, all.narrow(2, 0, whole.queries), at::full({1, 1, 1, 1, 1}, whole.keys, numbers)};
  }
  const auto ordinal = at::arange(1, whole.keys + 1, numbers);
  const auto scored = ordinal <= whole.max_keys;  // [Lk]
  const bool own_rows = mask.keep.defined() && mask.keep.size(2) != 1;
  const bool runs = mask.causal != Causal::none || mask.left >= 0 || mask.right >= 0;
  const auto [keys, rows] = own_rows ? by_looking(mask, whole, scored)
                            : runs   ? by_counting(mask, whole, scored)
                                     : at_once(mask, whole, scored);
  Tensor count = mask.key_count;
  if (!count.defined()) {
    const auto positions = keys.any(1).to(at::kLong) * ordinal;  // [B|1, Lk]
    count = whole.keys > 0 ? positions.amax(-1) : positions.sum(-1);
  }
  return {.keys = keys.unsqueeze(-1),
          .values = keys.logical_and(scored).unsqueeze(-1),
          .rows = rows.unsqueeze(-1),
          .key_count = count.view({-1, 1, 1, 1, 1})};
}

Tensor without_unreached(const Tensor& x, const Tensor& reached) {
  if (x.device().is_cpu() && reached.all().item<bool>()) return x;  // on a GPU the test would synchronize
  auto some = reached;
  const int64_t heads = reached.size(1), own = x.size(1);
  if (heads > own) some = reached.unflatten(1, {own, heads / own}).any(2);
  return x.masked_fill(some.logical_not(), 0.0);
}

}  // namespace heed
