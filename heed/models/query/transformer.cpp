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
    check(!call.replace_weights,
          "query: got weights that replace others in a step of a transformer, expected them for all targets at once");
    if (fixed_) return step_fixed(embedded, call);
    const int64_t position = cache_.length();
    if (!positions_.defined() || positions_.size(0) <= position)
      positions_ = positions_before(std::max<int64_t>(kPositions, 2 * position), embedded);
    auto next = decoder_->decode_next(at(embedded, positions_.narrow(0, position, 1)), cache_, call);
    return {std::move(next.features), std::move(next.steps)};
  }
  void select(const Tensor& rows) override {
    if (fixed_)
      *fixed_ = fixed_->select(rows);
    else
      cache_ = cache_.select(rows);
  }
  void reorder(const Tensor& rows, int64_t beams) override {
    if (fixed_)
      fixed_->reorder(rows, beams);
    else
      cache_ = cache_.reorder(rows);
  }
  bool fix(int64_t steps) override {
    if (!decoder_->steps_alike()) return false;
    // The number of targets is read from the device: that waits for it, once for many steps.
    const int64_t length = fixed_ ? fixed_->position.item<int64_t>() : cache_.length();
    if (length == 0) return false;
    if (fixed_ && length + steps <= fixed_->capacity()) return true;
    fixed_ = std::make_unique<FixedDecoderCache>(fixed_ ? decoder_->fixed(*fixed_, length, length + steps)
                                                        : decoder_->fixed(cache_, length + steps));
    positions_ =
        positions_before(length + steps, fixed_->layers[0].self.values.rows().new_empty({0, decoder_->options().dim}));
    cache_ = {};
    return true;
  }

 private:
  /// Every tensor is where it was in the step before.
  QueryOutput step_fixed(const Tensor& embedded, const Call& call) {
    const auto x = at(embedded, positions_.index_select(0, fixed_->position));
    auto next = decoder_->decode_next(x, *fixed_, call);
    return {std::move(next.features), std::move(next.steps)};
  }
  /// The next target [B, E] at a position whose encoding is [1, E].
  Features at(const Tensor& embedded, const Tensor& position) const {
    return with_positions({embedded.unsqueeze(1), {}}, position, decoder_->options(), decoder_->is_training());
  }

  static constexpr int64_t kPositions = 64;  // whose encodings are computed at once, at least

  TransformerDecoder decoder_;
  DecoderCache cache_;
  std::unique_ptr<FixedDecoderCache> fixed_;  // instead of cache_, after fix()
  Tensor positions_;                          // encodings of the first positions
};

struct AlignValues {
  int64_t align_layer = 0;
  bool align_shift = false;
};

/// num_layers: of the decoder; 0 in lists, where it is unknown.
RecipeTable<AlignValues> align_keys(int64_t num_layers) {
  const double last = num_layers > 0 ? static_cast<double>(num_layers - 1) : Settings::kInfinity;
  return {{"align_layer",
           &AlignValues::align_layer,
           "layer whose cross-attention makes links and maps, from 0",
           {.min = 0, .max = last, .default_text = "the last but one"}},
          {"align_shift", &AlignValues::align_shift, "whether links take the weights of the next step"}};
}

class TransformerQuery final : public QueryModel {
 public:
  static RecipeKeyList keys() { return all_keys({transformer_keys(), align_keys(0).list()}); }
  TransformerQuery(const Settings& s, const QueryOptions& options)
      : options_(read_transformer(s, options.embedding)), attention_(options.attention) {
    TransformerOptions& o = options_;
    const AttentionSpec& spec = attention_->spec();
    if (spec.heads != 0 && spec.heads != o.num_heads)
      s.refuse("num_heads", "is ", o.num_heads, ", but model.attention.num_heads is ", spec.heads,
               "; expected the same");
    check(spec.structure.empty(), "recipe: model.attention.structure is '", spec.structure,
          "', which a transformer does not support; expected model.query.kind: bahdanau or luong");
    check(spec.dropout == 0, "recipe: model.attention.dropout is ", spec.dropout,
          ", which a transformer does not use; expected model.query.attention_dropout");
    o.source_dim = options.source;
    o.cross_mechanism = spec.mechanism;
    align_ = align_keys(o.num_layers).read(s, {.align_layer = std::max<int64_t>(0, o.num_layers - 2)});
    o = completed(o);
  }
  void build() override {
    const auto make_cross = [this] { return attention_->build_layer(options_); };
    decoder_ = register_module("decoder", TransformerDecoder(options_, make_cross));
  }
  QueryOutput answer(const Features& targets, const Features& seen, const Tensor&, const Call& call) override {
    // Links are between targets and features: what is requested together with them is of the layer that aligns alone.
    Call all = call;
    CrossOutputs one;
    if (call.outputs.links.defined()) {
      all.outputs = {};
      one = {.layer = align_.align_layer, .outputs = call.outputs};
      one.squares = call.outputs.lse && !call.outputs.weights;
    }
    if (call.replace_weights) {
      all.replace_weights = nullptr;
      one.layer = align_.align_layer;
      one.outputs = call.outputs;
      one.replace_weights = call.replace_weights;
    }
    auto out = decoder_->decode(with_positions(targets, decoder_->options(), is_training()), seen, all, one);
    return {std::move(out.features), std::move(out.steps)};
  }
  std::unique_ptr<QueryState> start(const Features& seen, const Tensor&) override {
    return std::make_unique<TransformerQueryState>(decoder_, decoder_->start(seen));
  }
  int64_t width() const override { return options_.dim; }
  std::string aligning_step() const override { return "layers." + std::to_string(align_.align_layer) + ".cross"; }
  bool shifts_alignment() const override { return align_.align_shift; }

 private:
  TransformerOptions options_;
  AlignValues align_;
  std::shared_ptr<AttentionModel> attention_;  // its modules are children of the layers
  TransformerDecoder decoder_{nullptr};
};

const QueryEntry<TransformerQuery> transformer_query_entry{
    "transformer",
    {.features = "transformer", .mechanism = "scaled_dot + softmax"},
    {.formula = "x_t <- x_t + Att(x_t, x_1 ... x_t), x_t <- x_t + Att(x_t, F), x_t <- x_t + W_out act(W_in x_t)",
     .paper = "Vaswani et al., 2017; alignment from the layer before the last: Garg et al., 2019",
     .choose = "more data, long sequences, speed on a GPU",
     .order = 3}};

}  // namespace
}  // namespace heed
