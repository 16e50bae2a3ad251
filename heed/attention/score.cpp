#include "heed/attention/score.h"

namespace heed {

Tensor products(const Tensor& query, const Tensor& keys, int64_t width) {
  if (width == 1) return at::matmul(query, keys.transpose(-1, -2)).unsqueeze(-1);
  const auto groups = [&](const Tensor& x) {  // [B, H, width, L, D / width]
    return x.view({x.size(0), x.size(1), x.size(2), width, -1}).transpose(2, 3);
  };
  return at::matmul(groups(query), groups(keys).transpose(-1, -2)).permute({0, 1, 3, 4, 2});
}

Tensor channel_products(const Tensor& query, const Tensor& keys, int64_t width) {
  const int64_t B = query.size(0), H = query.size(1), Lq = query.size(2), D = keys.size(-1);
  const auto rows = query.reshape({B, H, Lq * width, D});
  const auto all = at::matmul(rows, keys.transpose(-1, -2));  // [B, H, Lq * width, Lk]
  return all.view({B, H, Lq, width, keys.size(-2)}).transpose(-1, -2);
}

std::string only(Dimensionality d, Dimensionality only_this, const std::string& reason) {
  if (d == Dimensionality::single || d == only_this) return "";
  return reason + "; it has " + to_string(only_this);
}

void check_same_width(const std::string& part, const Sizes& sizes) {
  check(sizes.query_dim == sizes.key_dim, part, ": the query has ", sizes.query_dim, " features and the keys have ",
        sizes.key_dim, "; expected equally many; general takes different numbers");
  check(sizes.width() <= 1 || sizes.key_dim % sizes.width() == 0, part, ": ", sizes.key_dim,
        " features do not split into ", sizes.width(), " groups; expected a multiple of the number of value channels");
}

}  // namespace heed
