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
     "dropout on embeddings with their positions and on sublayers",
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

struct InnerDropoutValues {
  double attention_dropout = 0, activation_dropout = 0;
};

const RecipeTable<InnerDropoutValues> inner_dropout_table{
    {"attention_dropout",
     &InnerDropoutValues::attention_dropout,
     "dropout on attention weights",
     {.min = 0, .max = 0.99, .default_text = "that of `dropout`"}},
    {"activation_dropout",
     &InnerDropoutValues::activation_dropout,
     "dropout inside the feed-forward sublayer",
     {.min = 0, .max = 0.99, .default_text = "that of `dropout`"}}};

}  // namespace

RecipeKeyList transformer_keys() {
  return all_keys({transformer_table.list(), inner_dropout_table.list()});
}

TransformerOptions read_transformer(const Settings& s, int64_t width) {
  const TransformerValues v = transformer_table.read(s);
  TransformerOptions o;
  o.dim = width;
  o.num_layers = v.num_layers;
  o.num_heads = v.num_heads;
  o.feed_forward_dim = v.feed_forward_dim;
  o.dropout = v.dropout;
  const auto inner = inner_dropout_table.read(s, {.attention_dropout = v.dropout, .activation_dropout = v.dropout});
  o.attention_dropout = inner.attention_dropout;
  o.activation_dropout = inner.activation_dropout;
  o.norm = v.norm == "pre" ? Norm::pre : Norm::post;
  o.activation = v.activation;
  o.mechanism = v.mechanism;
  if (v.positions == "rotary") o.rotary.base = kPositionBase;
  o.alibi = v.positions == "alibi";
  if (width % o.num_heads != 0)
    s.refuse("num_heads", "is ", o.num_heads, ", expected a divisor of the width, which is ", width);
  return o;
}

Features with_positions(const Features& x, const Tensor& positions, const TransformerOptions& o, bool training) {
  Tensor rows = x.rows * std::sqrt(static_cast<double>(x.width()));
  if (o.rotary.base == 0 && !o.alibi) rows = rows + positions;
  return x.with_rows(heed::dropout(rows, o.dropout, training));
}

Features with_positions(const Features& x, const TransformerOptions& o, bool training) {
  return with_positions(x, positions_before(x.length(), x.rows), o, training);
}

Tensor positions_before(int64_t count, const Tensor& like) {
  return sinusoidal_positions(count, like.size(-1), Layout::interleaved, 0, like.options());
}

}  // namespace heed
