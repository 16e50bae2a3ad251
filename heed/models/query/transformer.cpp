// Queries of a Transformer decoder (Vaswani et al., 2017): causal self-attention, then cross-attention to the features.

#include "heed/models/components.h"
#include "heed/models/transformer_settings.h"
#include "heed/structures/decode/transformer_decoder.h"

namespace heed {
namespace {

class TransformerQueryState final : public QueryState {
 public:
  TransformerQueryState(TransformerDecoder decoder, DecoderCache cache)
      : decoder_(std::move(decoder)), cache_(std::move(cache)) {}
  QueryOutput step(const Tensor& embedded, const Call& call) override {
    const Features x =
        with_positions({embedded.unsqueeze(1), {}}, cache_.length(), decoder_->options(), decoder_->is_training());
    auto next = decoder_->decode_next(x, cache_, call);
    return {std::move(next.features), std::move(next.steps)};
  }
  void select(const Tensor& rows) override { cache_ = cache_.select(rows); }

 private:
  TransformerDecoder decoder_;
  DecoderCache cache_;
};

class TransformerQuery final : public QueryModel {
 public:
  TransformerQuery(const Settings& s, const QueryOptions& options) {
    TransformerOptions o = read_transformer(s, options.embedding);
    const AttentionSpec& spec = options.attention;
    if (spec.heads != 0 && spec.heads != o.num_heads)
      s.refuse("num_heads", "is ", o.num_heads, ", but model.attention.num_heads is ", spec.heads,
               "; expected the same");
    check(spec.structure.empty(), "recipe: model.attention.structure is '", spec.structure,
          "', which a transformer does not support; expected model.query.kind: bahdanau or luong");
    check(spec.dropout == 0, "recipe: model.attention.dropout is ", spec.dropout,
          ", which a transformer does not use; expected model.query.dropout");
    o.source_dim = options.source;
    o.cross_mechanism = spec.mechanism;
    align_layer_ = s.integer("align_layer", std::max<int64_t>(0, o.num_layers - 2), 0, o.num_layers - 1);
    align_shift_ = s.flag("align_shift", false);
    decoder_ = register_module("decoder", TransformerDecoder(o));
  }
  QueryOutput answer(const Features& targets, const Features& seen, const Tensor&, const Call& call) override {
    auto out = decoder_->decode(with_positions(targets, 0, decoder_->options(), is_training()), seen, call);
    return {std::move(out.features), std::move(out.steps)};
  }
  std::unique_ptr<QueryState> start(const Features& seen, const Tensor&) override {
    return std::make_unique<TransformerQueryState>(decoder_, decoder_->start(seen));
  }
  int64_t width() const override { return decoder_->options().dim; }
  std::string aligning_step() const override { return "layers." + std::to_string(align_layer_) + ".cross"; }
  bool shifts_alignment() const override { return align_shift_; }

 private:
  TransformerDecoder decoder_{nullptr};
  int64_t align_layer_ = 0;
  bool align_shift_ = false;
};

const QueryModel::Parts::Entry transformer_query_entry{
    "transformer",
    make_component<QueryModel, TransformerQuery, Settings, QueryOptions>,
    {.formula = "x_t <- x_t + Att(x_t, x_1 ... x_t), x_t <- x_t + Att(x_t, F), x_t <- x_t + W_out act(W_in x_t)",
     .paper = "Vaswani et al., 2017; alignment from the layer before the last: Garg et al., 2019",
     .choose = "more data, long sequences, speed on a GPU",
     .order = 3}};

}  // namespace
}  // namespace heed
