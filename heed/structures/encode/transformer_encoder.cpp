#include "heed/structures/encode/transformer_encoder.h"

#include "heed/structures/structure.h"
#include "heed/structures/uses.h"

namespace heed {

EncoderLayerImpl::EncoderLayerImpl(const TransformerOptions& options) : options_(completed(options)) {
  reset();
}

void EncoderLayerImpl::reset() {
  self_ = register_module("self", transformer_attention(options_, options_.dim, options_.mechanism, options_.rotary));
  self_norm_ = register_module("self_norm", transformer_norm(options_));
  feed_forward_ = register_module("feed_forward", FeedForward(options_));
  feed_forward_norm_ = register_module("feed_forward_norm", transformer_norm(options_));
}

Transformed EncoderLayerImpl::forward(const Features& given, const Call& call) {
  check_positions("transformer_encoder: features", given, options_.dim, self_norm_->weight);
  Call own = over(call, given);
  if (options_.alibi) own.bias.alibi = alibi_slopes(options_.num_heads, given.rows.options());
  Transformed out;
  auto x = given.without_padding().rows;  // [B, L, D]
  x = residual(x, self_norm_, options_, is_training(), [&](const Tensor& h) {
    out.steps.emplace_back("self", self_->forward(h, h, h, own));
    return out.steps.back().second.context;
  });
  x = residual(x, feed_forward_norm_, options_, is_training(), [&](const Tensor& h) { return feed_forward_(h); });
  out.features = given.with_rows(x).without_padding();
  return out;
}

TransformerEncoderImpl::TransformerEncoderImpl(const TransformerOptions& options) : options_(completed(options)) {
  reset();
}

void TransformerEncoderImpl::reset() {
  layers_ = register_module("layers", torch::nn::ModuleList());
  for (int64_t i = 0; i < options_.num_layers; ++i) layers_->push_back(EncoderLayer(options_));
  if (options_.norm == Norm::pre) norm_ = register_module("norm", transformer_norm(options_));
}

void TransformerEncoderImpl::pretty_print(std::ostream& stream) const {
  const auto& o = options_;
  stream << "heed::TransformerEncoder(" << o.mechanism << "; width " << o.dim << ", layers " << o.num_layers
         << ", heads " << o.num_heads << ", norm " << (o.norm == Norm::pre ? "pre" : "post") << ")";
}

Transformed TransformerEncoderImpl::encode(const Features& x, const Call& call) {
  Transformed out{x, {}};
  for (size_t i = 0; i < layers_->size(); ++i) {
    auto layer = layers_->ptr<EncoderLayerImpl>(i)->forward(out.features, nth_use(call, i));
    out.features = layer.features;
    out.steps.emplace_back("layers." + std::to_string(i) + ".self", std::move(layer.steps[0].second));
  }
  if (norm_) out.features = out.features.with_rows(norm_(out.features.rows)).without_padding();
  return out;
}

namespace {

class TransformerEncoderStructure final : public Structure {
 public:
  TransformerEncoderStructure(const Options& spec, const StructureOptions& options)
      : Structure(options, "scaled_dot + softmax") {
    TransformerOptions o;
    o.num_heads = options.num_heads;
    o.dim = width_of(0);
    read_spec(spec, o);
    o.dropout = options.dropout;
    o.mechanism = mechanism().to_string();
    encoder_ = register_module("encoder", TransformerEncoder(o));
  }

  StructureSignature takes() const override { return {.features = {"features"}, .masks = true}; }
  int64_t width() const override { return width_of(0); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    auto encoded = encoder_->encode(in.features[0], in.call);
    StructureOutput out;
    out.context = encoded.features.rows;
    out.keep = encoded.features.keep;
    out.steps = std::move(encoded.steps);
    return out;
  }

  TransformerEncoder encoder_{nullptr};
};

const Structure::Parts::Entry transformer_encoder_entry{
    "transformer_encoder",
    make_structure<TransformerEncoderStructure>,
    {.formula = "x <- x + Att(x, x), x <- x + FFN(x), layer by layer",
     .paper = "Vaswani et al., 2017",
     .cost = "layers (one mechanism of L queries and 12 L D^2)",
     .choose = "self-attention in layers: features that depend on each other, over any distance, and data enough; one "
               "layer alone: self_attentive(features)",
     .axis = "beyond",
     .variants = {"transformer_encoder(2, 2, post)", "transformer_encoder(num_heads=2, positions=alibi)",
                  "transformer_encoder(num_heads=2, positions=rotary)"},
     .synonyms = {"self_attention", "intra_attention"},
     .order = 2}};

}  // namespace
}  // namespace heed
