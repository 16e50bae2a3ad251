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

/// x and `other`; undefined: all true.
Tensor both(const Tensor& x, const Tensor& other) {
  return other.defined() ? x.logical_and(other) : x;
}

/// For a keep that differs between queries: block by block, so that Lq x Lk is never stored.
Reachability by_looking(const Mask& mask, const BlockRange& whole, const Tensor& scored) {
  constexpr int64_t kAtOnce = 256;
  BlockRange block = whole;
  block.max_keys = whole.keys;
  const auto flags = mask.keep.options();
  Reachability found{at::zeros({1, 1, whole.keys}, flags), {}};
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < whole.queries; i += kAtOnce) {
    const int64_t count = std::min(kAtOnce, whole.queries - i);
    Mask part = mask;
    part.keep = mask.keep.narrow(2, i, count);
    block.first_query = i;
    const auto keep = kept(part, block, count, flags.device()).squeeze(-1);  // [B|1, H|1, count, Lk]
    found.keys = found.keys.logical_or(keep.any(2));
    rows.push_back(both(keep, scored).any(3));
  }
  if (rows.empty()) rows.push_back(at::zeros({mask.keep.size(0), mask.keep.size(1), 0}, flags));
  found.rows = at::cat(rows, 2);
  return found;
}

/// Keys that keep and key_count leave, which are the same for all queries: bool [B|1, H|1, Lk].
Tensor kept_for_all(const Mask& mask, const BlockRange& whole, const at::TensorOptions& numbers) {
  Tensor keys;
  if (mask.key_count.defined()) keys = at::arange(whole.keys, numbers) < mask.key_count.view({-1, 1, 1});
  if (mask.keep.defined()) keys = both(mask.keep.squeeze(2).expand({-1, -1, whole.keys}), keys);
  return keys.defined() ? keys : at::ones({1, 1, whole.keys}, numbers.dtype(at::kBool));
}

/// For a mask that is the same for all queries.
Reachability at_once(const Mask& mask, const BlockRange& whole, const Tensor& scored,
                     const at::TensorOptions& numbers) {
  const auto keys = kept_for_all(mask, whole, numbers);
  const auto row = both(keys, scored).any(-1, /*keepdim=*/true);
  return {keys, row.expand({row.size(0), row.size(1), whole.queries})};
}

/// The same with causal and window, where each query attends one interval of keys and each key is attended by one
/// interval of queries.
Reachability by_counting(const Mask& mask, const BlockRange& whole, const Tensor& scored,
                         const at::TensorOptions& numbers) {
  const int64_t first = first_position(mask, whole), far = whole.keys + whole.queries + first;
  const int64_t left = mask.left >= 0 ? std::min(mask.left, far) : far;
  const int64_t right = mask.causal != Causal::none ? 0 : mask.right >= 0 ? std::min(mask.right, far) : far;
  const auto all = kept_for_all(mask, whole, numbers);
  Tensor keys = all;
  if (!attends_every_key(mask, whole)) {
    const auto key = at::arange(whole.keys, numbers);
    keys = all.logical_and((key - right).clamp_min(first) <= (key + left).clamp_max(first + whole.queries - 1));
  }
  const auto count = both(all, scored).cumsum(-1);  // of kept keys up to key j
  if (mask.left < 0 && right == 0 && first == 0 && whole.queries == whole.keys) return {keys, count > 0};
  // A query attends some key if the count grows along its interval.
  const auto before = at::constant_pad_nd(count, {1, 0});  // [B|1, H|1, Lk + 1]
  const auto position = at::arange(first, first + whole.queries, numbers);
  const auto begin = (position - left).clamp(0, whole.keys), end = (position + right + 1).clamp(0, whole.keys);
  return {keys, before.index_select(-1, end) > before.index_select(-1, begin)};
}

}  // namespace

bool attends_every_key(const Mask& mask, const BlockRange& whole) {
  if (whole.queries == 0 || whole.keys == 0) return false;
  const int64_t first = first_position(mask, whole), last = first + whole.queries - 1;
  const bool to_last =
      mask.causal != Causal::none ? last >= whole.keys - 1 : mask.right < 0 || last + mask.right >= whole.keys - 1;
  return to_last && (mask.left < 0 || first <= mask.left);
}

Reach reach(const Mask& mask, const BlockRange& whole, const at::Device& device, bool counted) {
  const at::NoGradGuard no_grad;
  const auto numbers = at::TensorOptions().dtype(at::kLong).device(device);
  if (!mask.any() && whole.keys <= whole.max_keys) {
    const auto all = at::ones({1, 1, std::max(whole.keys, whole.queries), 1}, numbers.dtype(at::kBool));
    const auto keys = all.narrow(2, 0, whole.keys);
    return {keys, keys, all.narrow(2, 0, whole.queries),
            counted ? at::full({1, 1, 1, 1, 1}, whole.keys, numbers) : Tensor()};
  }
  Tensor scored;  // [Lk]; undefined: all of them
  if (whole.max_keys < whole.keys) scored = at::arange(whole.keys, numbers) < whole.max_keys;
  const bool own_rows = mask.keep.defined() && mask.keep.size(2) != 1;
  const bool runs = mask.causal != Causal::none || mask.left >= 0 || mask.right >= 0;
  const auto [keys, rows] = own_rows ? by_looking(mask, whole, scored)
                            : runs   ? by_counting(mask, whole, scored, numbers)
                                     : at_once(mask, whole, scored, numbers);
  Tensor count = mask.key_count;
  if (!count.defined() && counted) {
    const auto positions = keys.any(1).to(at::kLong) * at::arange(1, whole.keys + 1, numbers);  // [B|1, Lk]
    count = whole.keys > 0 ? positions.amax(-1) : positions.sum(-1);
  }
  return {.keys = keys.unsqueeze(-1),
          .values = both(keys, scored).unsqueeze(-1),
          .rows = rows.unsqueeze(-1),
          .key_count = count.defined() ? count.view({-1, 1, 1, 1, 1}) : count};
}

Tensor reached_rows(const Mask& mask, const BlockRange& whole, const at::Device& device) {
  const bool only_count = mask.key_count.defined() && !mask.keep.defined() && mask.causal == Causal::none &&
                          mask.left < 0 && mask.right < 0 && whole.keys <= whole.max_keys;
  if (!only_count) return reach(mask, whole, device, /*counted=*/false).rows;
  return (mask.key_count > 0).view({-1, 1, 1, 1}).expand({-1, -1, whole.queries, -1});
}

Tensor without_unreached(const Tensor& x, const Tensor& reached) {
  if (x.device().is_cpu() && reached.all().item<bool>()) return x;  // on a GPU the test would synchronize
  auto some = reached;
  const int64_t heads = reached.size(1), own = x.size(1);
  if (heads > own) some = reached.unflatten(1, {own, heads / own}).any(2);
  return at::where(some, x, at::zeros({}, x.options()));
}

}  // namespace heed
