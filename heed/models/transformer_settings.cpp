#include "heed/models/transformer_settings.h"

#include <cmath>

#include "heed/attention/positions.h"
#include "heed/models/components.h"
#include "heed/torch_support/noise_scope.h"

namespace heed {
namespace {

struct TransformerValues {
  int64_t num_layers = 4, num_heads = 4, feed_forward_dim = 0;
  double dropout = 0.1;
  std::string norm = "pre", activation = "relu", mechanism = "scaled_dot + softmax", positions = "sinusoidal";
};

const RecipeTable<TransformerValues> transformer_table{
    {"num_layers", &TransformerValues::num_layers, "layers", {.min = 1, .max = 256}},
    {"num_heads", &TransformerValues::num_heads, "heads; a divisor of the width", {.min = 1, .max = 1024}},
    {"feed_forward_dim",
     &TransformerValues::feed_forward_dim,
     "hidden width of the feed-forward sublayer; 0: four times the width",
     {.min = 0, .max = kMaxWidth}},
    {"dropout",
     &TransformerValues::dropout,
     "dropout on embeddings with their positions, weights and sublayers",
     {.min = 0, .max = 0.99}},
    {"norm", &TransformerValues::norm, "layer norm before or after a sublayer", {.choices = {"pre", "post"}}},
    {"activation",
     &TransformerValues::activation,
     "activation of the feed-forward sublayer",
     {.choices = {"relu", "gelu", "tanh"}}},
    {"mechanism", &TransformerValues::mechanism, "spec of the mechanism of self-attention"},
    {"positions",
     &TransformerValues::positions,
     "how positions are encoded",
     {.choices = {"sinusoidal", "rotary", "alibi"}}}};

}  // namespace

RecipeKeyList transformer_keys() {
  return transformer_table.list();
}

TransformerOptions read_transformer(const Settings& s, int64_t width) {
  const TransformerValues v = transformer_table.read(s);
  TransformerOptions o;
  o.dim = width;
  o.num_layers = v.num_layers;
  o.num_heads = v.num_heads;
  o.feed_forward_dim = v.feed_forward_dim;
  o.dropout = v.dropout;
  o.norm = v.norm == "pre" ? Norm::pre : Norm::post;
  o.activation = v.activation;
  o.mechanism = v.mechanism;
  if (v.positions == "rotary") o.rotary.base = kPositionBase;
  o.alibi = v.positions == "alibi";
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
