#include "heed/structures/features.h"

namespace heed {

Features Features::without_padding() const {
  if (!keep.defined()) return *this;
  return with_rows(at::where(keep.unsqueeze(-1), rows, at::zeros({}, rows.options())));
}

Tensor mean(const Features& features) {
  const Features clean = features.without_padding();
  const auto sum = clean.rows.sum(-2, /*keepdim=*/true);  // [B, 1, D]
  if (!features.keep.defined()) return sum / static_cast<double>(std::max<int64_t>(1, features.length()));
  return sum / features.keep.sum(-1).clamp_min(1).to(sum.scalar_type()).unsqueeze(-1).unsqueeze(-1);
}

Tensor any_real(const Features& features) {
  const auto flags = features.rows.options().dtype(at::kBool);
  if (!features.keep.defined()) return at::full({features.batch()}, features.length() > 0, flags);
  return features.keep.flatten(1).any(1);
}

Features padded(const std::vector<Features>& items) {
  check(!items.empty(), "features: got no items to pad, expected at least 1");
  const auto& first = items.front().rows;
  check(first.defined() && first.dim() >= 2, "features: an item is ", shape_of(first), ", expected [L, D] or deeper");
  std::vector<int64_t> max = first.sizes().vec();
  for (const auto& item : items) {
    check(item.rows.defined() && item.rows.dim() == first.dim() && item.width() == first.size(-1),
          "features: items are ", shape_of(item.rows), " and ", shape_of(first),
          "; expected the same number of axes and the same width");
    const auto positions = item.rows.sizes().slice(0, max.size() - 1);
    check(!item.keep.defined() || (item.keep.scalar_type() == at::kBool && item.keep.sizes() == positions),
          "features: keep is ", shape_of(item.keep), ", expected bool of shape ", shape_of(item.rows),
          " without the last axis");
    for (size_t axis = 0; axis + 1 < max.size(); ++axis)
      max[axis] = std::max(max[axis], item.rows.size(static_cast<int64_t>(axis)));
  }
  std::vector<Tensor> rows, keeps;
  for (const auto& item : items) {
    std::vector<int64_t> padding{0, 0};  // constant_pad_nd counts axes from the last
    for (size_t axis = max.size() - 1; axis-- > 0;) {
      padding.push_back(0);
      padding.push_back(max[axis] - item.rows.size(static_cast<int64_t>(axis)));
    }
    rows.push_back(at::constant_pad_nd(item.rows, padding));
    const auto all = item.rows.options().dtype(at::kBool);
    const auto keep =
        item.keep.defined() ? item.keep : at::ones(item.rows.sizes().slice(0, item.rows.sizes().size() - 1), all);
    keeps.push_back(at::constant_pad_nd(keep, at::IntArrayRef(padding).slice(2)));
  }
  return {at::stack(rows), at::stack(keeps)};
}

Call over(const Call& call, const Features& features) {
  if (!features.keep.defined()) return call;
  Call masked = call;
  const auto keep = features.keep.unsqueeze(1);  // [B, 1, L]
  masked.mask.keep = !call.mask.keep.defined()   ? keep
                     : call.mask.keep.dim() == 4 ? call.mask.keep.logical_and(keep.unsqueeze(1))
                                                 : call.mask.keep.logical_and(keep);
  return masked;
}

}  // namespace heed
