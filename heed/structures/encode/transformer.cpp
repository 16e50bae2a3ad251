#include "heed/structures/encode/transformer.h"

#include "heed/attention/affine.h"
#include "heed/structures/checks.h"
#include "heed/structures/query/hops.h"

namespace heed {

TransformerOptions completed(TransformerOptions o) {
  check(o.dim > 0, "transformer: dim is ", o.dim, ", expected more than 0");
  check(o.num_layers >= 1 && o.num_heads >= 1, "transformer: ", o.num_layers, " layers of ", o.num_heads,
        " heads; expected at least 1 of both");
  check(o.head_dim > 0 || o.dim % o.num_heads == 0, "transformer: a width of ", o.dim, " does not split into ",
        o.num_heads, " heads; expected a multiple, or a head_dim");
  check(o.feed_forward_dim >= 0 && o.source_dim >= 0, "transformer: feed_forward_dim is ", o.feed_forward_dim,
        " and source_dim ", o.source_dim, "; expected at least 0");
  check(o.dropout >= 0 && o.dropout < 1, "transformer: dropout is ", o.dropout, ", expected 0 <= dropout < 1");
  check(o.attention_dropout < 1 && o.activation_dropout < 1, "transformer: attention_dropout is ", o.attention_dropout,
        " and activation_dropout ", o.activation_dropout, "; expected less than 1");
  check(o.epsilon > 0, "transformer: epsilon is ", o.epsilon, ", expected more than 0");
  if (o.head_dim == 0) o.head_dim = o.dim / o.num_heads;
  if (o.feed_forward_dim == 0) o.feed_forward_dim = 4 * o.dim;
  if (o.source_dim == 0) o.source_dim = o.dim;
  if (o.cross_mechanism.empty()) o.cross_mechanism = o.mechanism;
  return o;
}

void read_spec(const Options& spec, TransformerOptions& options) {
  options.num_layers = checked_repeats("transformer", "num_layers", spec.integer("num_layers", options.num_layers));
  options.num_heads = spec.integer("num_heads", options.num_heads);
  options.norm = spec.choice("norm", {"pre", "post"}) == "pre" ? Norm::pre : Norm::post;
  const auto positions = spec.choice("positions", {"none", "alibi", "rotary"});
  options.alibi = positions == "alibi";
  if (positions == "rotary") options.rotary.base = kPositionBase;
  options.feed_forward_dim = spec.integer("feed_forward_dim", options.feed_forward_dim);
}

Attention transformer_attention(const TransformerOptions& o, int64_t keys, const std::string& mechanism,
                                const Rotary& rotary) {
  return Attention(AttentionOptions{.query_dim = o.dim,
                                    .key_dim = keys,
                                    .value_dim = keys,
                                    .num_heads = o.num_heads,
                                    .num_kv_heads = o.num_kv_heads,
                                    .head_dim = o.head_dim,
                                    .context_dim = o.dim,
                                    .bias = o.bias,
                                    .rotary = rotary,
                                    .mechanism = Mechanism::parse(mechanism),
                                    .dropout = o.attention_dropout < 0 ? o.dropout : o.attention_dropout});
}

void check_positions(const std::string& what, const Features& x, int64_t width, const Tensor& own) {
  check(x.rows.defined() && x.rows.dim() == 3 && x.rows.size(2) == width, what, " is ", shape_of(x.rows),
        ", expected [B, L, ", width, "]");
  check_attendable(what, x.rows);
  check_type(what, x.rows, own);
  check_keep(what, x);
}

torch::nn::LayerNorm transformer_norm(const TransformerOptions& o) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({o.dim}).eps(o.epsilon));
}

FeedForwardImpl::FeedForwardImpl(const TransformerOptions& options)
    : options_(options), activation_(Options("transformer", {{"activation", options.activation}})) {
  reset();
}

void FeedForwardImpl::reset() {
  const auto& o = options_;
  in_ = register_module("in", torch::nn::Linear(torch::nn::LinearOptions(o.dim, o.feed_forward_dim).bias(o.bias)));
  out_ = register_module("out", torch::nn::Linear(torch::nn::LinearOptions(o.feed_forward_dim, o.dim).bias(o.bias)));
}

Tensor FeedForwardImpl::forward(const Tensor& x) {
  const auto inner = activation_(affine(x, in_->weight, in_->bias));
  const double p = options_.activation_dropout < 0 ? options_.dropout : options_.activation_dropout;
  return affine(heed::dropout(inner, p, is_training()), out_->weight, out_->bias);
}

}  // namespace heed
