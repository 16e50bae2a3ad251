#include "heed/models/transformer_settings.h"

#include <cmath>

#include "heed/attention/positions.h"
#include "heed/models/components.h"
#include "heed/torch_support/noise_scope.h"

namespace heed {

TransformerOptions read_transformer(const Settings& s, int64_t width) {
  TransformerOptions o;
  o.dim = width;
  o.num_layers = s.integer("num_layers", 4, 1, 256);
  o.num_heads = s.integer("num_heads", 4, 1, 1024);
  o.feed_forward_dim = s.integer("feed_forward_dim", 0, 0, kMaxWidth);
  o.dropout = s.number("dropout", 0.1, 0, 0.99);
  o.norm = s.choice("norm", {"pre", "post"}) == "pre" ? Norm::pre : Norm::post;
  o.activation = s.choice("activation", {"relu", "gelu", "tanh"});
  o.mechanism = s.text("mechanism", "scaled_dot + softmax");
  const auto positions = s.choice("positions", {"sinusoidal", "rotary", "alibi"});
  if (positions == "rotary") o.rotary.base = kPositionBase;
  o.alibi = positions == "alibi";
  if (width % o.num_heads != 0)
    s.refuse("num_heads", "is ", o.num_heads, ", expected a divisor of the width, which is ", width);
  return o;
}

Features with_positions(const Features& x, int64_t first, const TransformerOptions& o, bool training) {
  Tensor rows = x.rows * std::sqrt(static_cast<double>(x.width()));
  if (o.rotary.base == 0 && !o.alibi)
    rows = rows + sinusoidal_positions(x.length(), x.width(), Layout::interleaved, first, x.rows.options());
  return x.with_rows(heed::dropout(rows, o.dropout, training));
}

}  // namespace heed
