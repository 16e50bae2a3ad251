// torch's function of that name, as a call of attend().

#include <cmath>

#include <ATen/ATen.h>

#include "heed/attention/attend.h"

namespace heed {

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    c10::optional<double> scale, bool enable_gqa) {
  check(query.dim() >= 2 && key.dim() == query.dim() && value.dim() == query.dim(),
        "scaled_dot_product_attention: query is ", shape_of(query), ", key ", shape_of(key), ", value ",
        shape_of(value), "; expected [..., L, E] with equally many axes");
  check(enable_gqa || query.dim() < 3 || key.size(-3) == query.size(-3), "scaled_dot_product_attention: the query has ",
        query.dim() < 3 ? 1 : query.size(-3), " heads and the key ", key.dim() < 3 ? 1 : key.size(-3),
        "; pass enable_gqa to share keys");
  for (int64_t i = 0; i + 3 < query.dim(); ++i)
    check(key.size(i) == query.size(i) && value.size(i) == query.size(i), "scaled_dot_product_attention: query is ",
          shape_of(query), ", key ", shape_of(key), ", value ", shape_of(value), "; expected equal leading axes");
  check(!(is_causal && attn_mask.defined()),
        "scaled_dot_product_attention: got is_causal and attn_mask, expected one of them");
  // [..., H, L, E] -> [B, H, L, E]
  const auto four = [](const Tensor& x) {
    if (x.dim() == 2) return x.unsqueeze(0).unsqueeze(0);
    return x.dim() == 3 ? x.unsqueeze(0) : x.flatten(0, -4);
  };
  const auto q = four(query);
  Call call;
  call.scale = scale.has_value() ? *scale : 1 / std::sqrt(static_cast<double>(query.size(-1)));
  call.noise.dropout = dropout_p;
  if (is_causal) call.mask.causal = Causal::top_left;
  if (attn_mask.defined()) {
    auto mask = attn_mask;
    while (mask.dim() < query.dim()) mask = mask.unsqueeze(0);
    if (query.dim() > 4) {  // the leading axes are flattened below
      auto shape = query.sizes().vec();
      for (size_t i = 0; i < shape.size(); ++i)
        if (i + 3 >= shape.size()) shape[i] = mask.size(static_cast<int64_t>(i));
      mask = mask.expand(shape);
    }
    (mask.scalar_type() == at::kBool ? call.mask.keep : call.bias.full) = four(mask);
  }
  const auto context = attend(q, four(key), four(value), Mechanism::parse("dot + softmax"), {}, call).context;
  auto shape = query.sizes().vec();
  shape.back() = value.size(-1);
  return context.reshape(shape);
}

}  // namespace heed
