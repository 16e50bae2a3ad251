#include "heed/structures/decode/transformer_decoder.h"

#include <algorithm>

#include "heed/attention/align.h"
#include "heed/attention/score.h"
#include "heed/backend/beams.h"
#include "heed/structures/decode/selected.h"
#include "heed/structures/structure.h"
#include "heed/structures/uses.h"

namespace heed {
namespace {

/// The call for cross-attention: without masks and biases of self-attention; the first target is at position `first`.
Call for_source(const Call& call, int64_t first) {
  Call own = nth_use(call, 1);
  own.mask = {};
  own.bias = {};
  own.mask.first_query = first;
  return own;
}

int64_t batch_of(const Memory& memory) {
  return memory.values.defined() ? memory.batch() : -1;
}

Mask mask_of(const Features& x) {
  Mask mask;
  if (x.keep.defined()) mask.keep = x.keep.unsqueeze(1);  // [B, 1, L]
  return mask;
}

/// Throws Error unless rows are batch elements of the cache.
void check_selection(const DecoderCache& cache, const Tensor& rows) {
  int64_t batch = -1;  // unknown before the first target if there is no source
  for (const auto& layer : cache.layers) batch = std::max({batch, batch_of(layer.self), batch_of(layer.cross)});
  check_rows("decoder_cache", rows, batch);
}

}  // namespace

DecoderCache DecoderCache::select(const Tensor& rows) const {
  check_selection(*this, rows);
  DecoderCache chosen;
  for (const auto& layer : layers) chosen.layers.push_back({selected(layer.self, rows), selected(layer.cross, rows)});
  return chosen;
}

DecoderCache DecoderCache::reorder(const Tensor& rows) const {
  check_selection(*this, rows);
  DecoderCache chosen;
  for (const auto& layer : layers) chosen.layers.push_back({selected(layer.self, rows), layer.cross});
  return chosen;
}

DecoderLayerImpl::DecoderLayerImpl(const TransformerOptions& options, const CrossAttentionMaker& make_cross)
    : options_(completed(options)) {
  build(make_cross);
}

void DecoderLayerImpl::reset() {
  if (!cross_) return build({});
  build([given = cross_->options()] { return Attention(given); });
}

void DecoderLayerImpl::build(const CrossAttentionMaker& make_cross) {
  const auto& o = options_;
  self_ = register_module("self", transformer_attention(o, o.dim, o.mechanism, o.rotary));
  self_norm_ = register_module("self_norm", transformer_norm(o));
  if (o.cross) {
    cross_ = register_module("cross",
                             make_cross ? make_cross() : transformer_attention(o, o.source_dim, o.cross_mechanism, {}));
    cross_norm_ = register_module("cross_norm", transformer_norm(o));
  }
  feed_forward_ = register_module("feed_forward", FeedForward(o));
  feed_forward_norm_ = register_module("feed_forward_norm", transformer_norm(o));
}

/// self(h), cross(h): the attention results of the queries h [B, n, D].
template <typename Self, typename Cross>
Transformed DecoderLayerImpl::pass(const Features& given, const Self& self, const Cross& cross) {
  Transformed out;
  const auto noted = [&](const char* name, Attended attended) {
    out.steps.emplace_back(name, std::move(attended));
    return out.steps.back().second.context;
  };
  auto x = given.without_padding().rows;
  x = residual(x, self_norm_, options_, is_training(), [&](const Tensor& h) { return noted("self", self(h)); });
  if (cross_)
    x = residual(x, cross_norm_, options_, is_training(), [&](const Tensor& h) { return noted("cross", cross(h)); });
  x = residual(x, feed_forward_norm_, options_, is_training(), [&](const Tensor& h) { return feed_forward_(h); });
  out.features = given.with_rows(x).without_padding();
  return out;
}

Transformed DecoderLayerImpl::forward(const Features& x, const Features& source, const Call& call,
                                      const CrossOutputs* of_cross) {
  check_positions("transformer_decoder: targets", x, options_.dim, self_norm_->weight);
  Call own = over(call, x);
  own.mask.causal = Causal::top_left;
  if (options_.alibi) own.bias.alibi = alibi_slopes(options_.num_heads, x.rows.options());
  if (cross_) check_positions("transformer_decoder: source", source, options_.source_dim, cross_norm_->weight);
  Attended squares;
  Transformed out = pass(
      x, [&](const Tensor& h) { return self_->forward(h, h, h, own); },
      [&](const Tensor& h) {
        Call to_source = over(for_source(call, 0), source);
        if (of_cross == nullptr) return cross_->forward(h, source.rows, source.rows, to_source);
        to_source.outputs = of_cross->outputs;
        if (of_cross->replace_weights) to_source.replace_weights = of_cross->replace_weights;
        if (of_cross->squares) {
          Call doubled = to_source;
          doubled.scale *= 2;
          doubled.outputs = {.lse = true};
          doubled.replace_weights = nullptr;
          squares = cross_->forward(h, source.rows, source.rows, doubled);
        }
        return cross_->forward(h, source.rows, source.rows, to_source);
      });
  if (squares.lse.defined()) out.steps.emplace_back("squares", std::move(squares));
  return out;
}

LayerCache DecoderLayerImpl::start(const Features& source) {
  LayerCache cache;
  if (!cross_) return cache;
  check_positions("transformer_decoder: source", source, options_.source_dim, cross_norm_->weight);
  cache.cross = cross_->prepare(source.rows, source.rows, mask_of(source));
  return cache;
}

Transformed DecoderLayerImpl::step(const Features& x, LayerCache& cache, const Call& call) {
  check_positions("transformer_decoder: targets", x, options_.dim, self_norm_->weight);
  const int64_t first = cache.self.length();
  Call own = call;
  // A single target attends to the whole cache, so it needs no causal mask.
  const bool single = x.length() == 1;
  own.mask.causal = single ? Causal::none : Causal::bottom_right;
  own.mask.first_query = single ? first : 0;
  if (options_.alibi) own.bias.alibi = alibi_slopes(options_.num_heads, x.rows.options());
  Memory grown;
  Transformed out = pass(
      x,
      [&](const Tensor& h) {
        grown = self_->append(cache.self, h, h, mask_of(x));
        return self_->forward(h, grown, own);
      },
      [&](const Tensor& h) { return cross_->forward(h, cache.cross, for_source(call, first)); });
  cache.self = grown;  // assigned last: a step that throws leaves the cache unchanged
  return out;
}

bool DecoderLayerImpl::steps_alike() const {
  const auto reads_positions = [](const Attention& attention) {
    const Mechanism& mechanism = attention->options().mechanism;
    const Alignment& align = mechanism.align();
    return mechanism.score().positional() || align.positional() || align.looks_at_keys() || align.offers().policy;
  };
  return options_.rotary.base == 0 && !options_.alibi && !reads_positions(self_) &&
         !(cross_ && reads_positions(cross_));
}

Transformed DecoderLayerImpl::step_at(const Tensor& position, const Features& x, LayerCache& cache, const Call& call) {
  check_positions("transformer_decoder: targets", x, options_.dim, self_norm_->weight);
  return pass(
      x,
      [&](const Tensor& h) {
        const Memory next = self_->prepare(h, h);
        cache.self.keys.rows().index_copy_(2, position, next.keys.rows());
        cache.self.values.rows().index_copy_(2, position, next.values.rows());
        return self_->forward(h, cache.self, call);
      },
      [&](const Tensor& h) { return cross_->forward(h, cache.cross, for_source(call, 0)); });
}

TransformerDecoderImpl::TransformerDecoderImpl(const TransformerOptions& options, const CrossAttentionMaker& make_cross)
    : options_(completed(options)) {
  build(make_cross);
}

void TransformerDecoderImpl::reset() {
  build({});  // of a copy, whose layers are then copied
}

void TransformerDecoderImpl::build(const CrossAttentionMaker& make_cross) {
  const auto& o = options_;
  layers_ = register_module("layers", torch::nn::ModuleList());
  for (int64_t i = 0; i < o.num_layers; ++i) layers_->push_back(DecoderLayer(o, make_cross));
  if (o.norm == Norm::pre) norm_ = register_module("norm", transformer_norm(o));
}

void TransformerDecoderImpl::pretty_print(std::ostream& stream) const {
  const auto& o = options_;
  stream << "heed::TransformerDecoder(" << o.mechanism
         << (o.cross ? "; source " + std::to_string(o.source_dim) + "," : ";") << " width " << o.dim << ", layers "
         << o.num_layers << ", heads " << o.num_heads << ", norm " << (o.norm == Norm::pre ? "pre" : "post") << ")";
}

void TransformerDecoderImpl::check_source(const Features& source) const {
  check(options_.cross || !source.rows.defined(), "transformer_decoder: got a source, but cross is false");
  check(!options_.cross || (source.rows.defined() && source.rows.dim() == 3), "transformer_decoder: source is ",
        shape_of(source.rows), ", expected [B, L, ", options_.source_dim, "]");
}

/// layer(i, x): the output of layer i for x.
template <typename Layer>
Transformed TransformerDecoderImpl::pass(const Features& x, const Layer& layer) {
  Transformed out{x, {}};
  for (size_t i = 0; i < layers_->size(); ++i) {
    Transformed passed = layer(i, out.features);
    out.features = passed.features;
    for (auto& [name, attended] : passed.steps)
      out.steps.emplace_back("layers." + std::to_string(i) + "." + name, std::move(attended));
  }
  if (norm_) out.features = out.features.with_rows(norm_(out.features.rows)).without_padding();
  return out;
}

Transformed TransformerDecoderImpl::decode(const Features& x, const Features& source, const Call& call,
                                           const CrossOutputs& of_cross) {
  check_source(source);
  check(of_cross.layer < options_.num_layers, "transformer_decoder: got a request for layer ", of_cross.layer,
        ", expected 0 to ", options_.num_layers - 1);
  check(!source.rows.defined() || !x.rows.defined() || source.batch() == x.rows.size(0),
        "transformer_decoder: source is ", shape_of(source.rows), " and targets ", shape_of(x.rows),
        "; expected the same batch size");
  return pass(x, [&](size_t i, const Features& in) {
    const bool asked = of_cross.layer == static_cast<int64_t>(i);
    return layers_->ptr<DecoderLayerImpl>(i)->forward(in, source, nth_use(call, 2 * i), asked ? &of_cross : nullptr);
  });
}

DecoderCache TransformerDecoderImpl::start(const Features& source) {
  check_source(source);
  DecoderCache cache;
  for (size_t i = 0; i < layers_->size(); ++i) cache.layers.push_back(layers_->ptr<DecoderLayerImpl>(i)->start(source));
  return cache;
}

Transformed TransformerDecoderImpl::decode_next(const Features& x, DecoderCache& cache, const Call& call) {
  check(cache.layers.size() == layers_->size(), "transformer_decoder: got a cache of ", cache.layers.size(),
        " layers, expected ", layers_->size(), "; create one with start()");
  const auto base = static_cast<uint64_t>(2 * cache.length()) * layers_->size();  // each step draws new random numbers
  DecoderCache next = cache;  // a step that throws, in any layer, leaves the cache unchanged
  Transformed out = pass(x, [&](size_t i, const Features& in) {
    return layers_->ptr<DecoderLayerImpl>(i)->step(in, next.layers[i], nth_use(call, base + 2 * i));
  });
  cache = std::move(next);
  return out;
}

bool TransformerDecoderImpl::steps_alike() const {
  return layers_->ptr<DecoderLayerImpl>(0)->steps_alike();
}

FixedDecoderCache TransformerDecoderImpl::fixed(const DecoderCache& cache, int64_t capacity) const {
  FixedDecoderCache all;
  for (const auto& layer : cache.layers) all.layers.push_back(layer);
  const auto& rows = cache.layers[0].self.values.rows();
  all.position = at::full({1}, cache.length(), rows.options().dtype(at::kLong));
  return fixed(all, cache.length(), capacity);
}

FixedDecoderCache TransformerDecoderImpl::fixed(const FixedDecoderCache& cache, int64_t length,
                                                int64_t capacity) const {
  check(steps_alike(), "transformer_decoder: got a mechanism, rotation or bias that reads positions, expected none in ",
        "a fixed cache");
  check(length > 0 && capacity >= length, "transformer_decoder: got a cache of ", length, " targets and a capacity of ",
        capacity, ", expected at least one target and capacity for them");
  const auto extended = [&](const Growing& some) {
    auto shape = some.rows().sizes().vec();
    shape[2] = capacity;
    const auto whole = at::zeros(shape, some.rows().options());
    whole.narrow(2, 0, length).copy_(some.rows().narrow(2, 0, length));
    return Growing(whole);
  };
  FixedDecoderCache all;
  all.position = cache.position.clone();
  all.key_count = at::full({cache.layers[0].self.batch()}, length, all.position.options());
  for (const auto& layer : cache.layers) {
    LayerCache own{{}, layer.cross};
    own.self.keys = extended(layer.self.keys);
    own.self.values = extended(layer.self.values);
    own.self.key_count = all.key_count;  // one tensor for all layers
    own.self.counted = true;
    all.layers.push_back(own);
  }
  return all;
}

Transformed TransformerDecoderImpl::decode_next(const Features& x, FixedDecoderCache& cache, const Call& call) {
  check(cache.layers.size() == layers_->size(), "transformer_decoder: got a cache of ", cache.layers.size(),
        " layers, expected ", layers_->size(), "; create one with fixed()");
  cache.key_count.add_(1);
  Transformed out = pass(x, [&](size_t i, const Features& in) {
    return layers_->ptr<DecoderLayerImpl>(i)->step_at(cache.position, in, cache.layers[i], nth_use(call, 2 * i));
  });
  cache.position.add_(1);
  return out;
}

FixedDecoderCache FixedDecoderCache::select(const Tensor& rows) const {
  FixedDecoderCache chosen = *this;
  chosen.key_count = key_count.index_select(0, rows);
  for (auto& layer : chosen.layers) {
    layer.self.key_count = chosen.key_count;
    layer.self.keys = layer.self.keys.select(rows);
    layer.self.values = layer.self.values.select(rows);
    layer.cross = selected(layer.cross, rows);
  }
  return chosen;
}

void FixedDecoderCache::reorder(const Tensor& rows, int64_t beams) {
  std::vector<Tensor> all;
  for (const auto& layer : layers)
    for (const Growing* some : {&layer.self.keys, &layer.self.values}) all.push_back(some->rows());
  move_rows(all, rows, beams, position);
}

namespace {

class TransformerDecoderStructure final : public Structure {
 public:
  TransformerDecoderStructure(const Options& spec, const StructureOptions& options)
      : Structure(options, "scaled_dot + softmax") {
    TransformerOptions o;
    o.num_heads = options.num_heads;
    o.source_dim = width_of(0);
    o.dim = width_of(1);
    read_spec(spec, o);
    o.dropout = options.dropout;
    o.mechanism = mechanism().to_string();
    decoder_ = register_module("decoder", TransformerDecoder(o));
  }

  StructureSignature takes() const override { return {.features = {"source", "target"}}; }
  int64_t width() const override { return width_of(1); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    auto decoded = decoder_->decode(in.features[1], in.features[0], in.call);
    StructureOutput out;
    out.context = decoded.features.rows;
    out.keep = decoded.features.keep;
    out.steps = std::move(decoded.steps);
    return out;
  }

  TransformerDecoder decoder_{nullptr};
};

const Structure::Parts::Entry transformer_decoder_entry{
    "transformer_decoder",
    make_structure<TransformerDecoderStructure>,
    {.formula = "x_t <- x_t + Att(x_t, x_<=t), x_t <- x_t + Att(x_t, S), x_t <- x_t + FFN(x_t), layer by layer",
     .paper = "Vaswani et al., 2017",
     .cost = "layers (two mechanisms of T queries and 16 T D^2); a cached step: 1 query",
     .choose = "targets one after another, trained all at once",
     .axis = "beyond",
     .variants = {"transformer_decoder(2, 2, post)", "transformer_decoder(num_heads=2, positions=alibi)"},
     .synonyms = {"masked_self_attention", "causal_self_attention"},
     .order = 3}};

}  // namespace
}  // namespace heed
