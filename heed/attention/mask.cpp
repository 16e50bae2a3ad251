#include "heed/attention/mask.h"

#include <vector>

namespace heed {

int64_t first_place(const Mask& mask, const Place& block) {
  const bool from_the_end = mask.causal == Causal::bottom_right;
  return block.first_query + (from_the_end ? block.keys - block.queries : mask.first_query);
}

Tensor kept(const Mask& mask, const Place& block, int64_t block_queries, const at::Device& device) {
  const auto whole = at::TensorOptions().dtype(at::kLong).device(device);
  const auto key = at::arange(block.keys, whole).view({1, 1, 1, -1, 1});
  auto keep = key < block.most_keys;
  if (mask.keep.defined()) keep = keep.logical_and(mask.keep.unsqueeze(-1));
  if (mask.key_count.defined()) keep = keep.logical_and(key < mask.key_count.view({-1, 1, 1, 1, 1}));
  if (mask.causal == Causal::none && mask.left < 0 && mask.right < 0) return keep;

  const int64_t first = first_place(mask, block);
  const auto query = at::arange(first, first + block_queries, whole).view({1, 1, -1, 1, 1});
  if (mask.causal != Causal::none) keep = keep.logical_and(key <= query);
  if (mask.left >= 0) keep = keep.logical_and(key >= query - mask.left);
  if (mask.right >= 0) keep = keep.logical_and(key <= query + mask.right);
  return keep;
}

Reach reach(const Mask& mask, const Place& whole, const at::Device& device) {
  const at::NoGradGuard no_grad;
  const auto flags = at::TensorOptions().dtype(at::kBool).device(device);
  const auto ordinal = at::arange(1, whole.keys + 1, flags.dtype(at::kLong));
  const auto scored = ordinal <= whole.most_keys;  // [Lk]
  const bool same_for_all =
      mask.causal == Causal::none && mask.left < 0 && mask.right < 0 && !(mask.keep.defined() && mask.keep.size(2) > 1);
  const int64_t most = same_for_all ? whole.queries : 256;  // at a time: Lq x Lk is never stored
  Place block = whole;
  block.most_keys = whole.keys;
  Tensor keys = at::zeros({1, 1, whole.keys}, flags);
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < whole.queries; i += most) {
    const int64_t count = std::min(most, whole.queries - i);
    Mask part = mask;
    if (mask.keep.defined() && mask.keep.size(2) > 1) part.keep = mask.keep.narrow(2, i, count);
    block.first_query = i;
    const auto keep = kept(part, block, count, device).squeeze(-1);  // [B|1, H|1, count|1, Lk]
    keys = keys.logical_or(keep.any(2));
    const auto row = keep.logical_and(scored).any(3, /*keepdim=*/true);
    rows.push_back(row.expand({row.size(0), row.size(1), count, 1}));
  }
  Tensor count = mask.key_count;
  if (!count.defined()) {
    const auto places = keys.any(1).to(at::kLong) * ordinal;  // [B|1, Lk]
    count = whole.keys > 0 ? places.amax(-1) : places.sum(-1);
  }
  return {.keys = keys.unsqueeze(-1),
          .values = keys.logical_and(scored).unsqueeze(-1),
          .rows = rows.empty() ? at::zeros({1, 1, 0, 1}, flags) : at::cat(rows, 2),
          .key_count = count.view({-1, 1, 1, 1, 1})};
}

Tensor without_unreached(const Tensor& x, const Tensor& reached) {
  auto some = reached;
  const int64_t heads = reached.size(1), own = x.size(1);
  if (heads > own) some = reached.unflatten(1, {own, heads / own}).any(2);
  return x.masked_fill(some.logical_not(), 0.0);
}

}  // namespace heed
