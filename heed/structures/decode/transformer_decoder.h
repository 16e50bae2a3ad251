// The decoder of a Transformer (Vaswani et al., 2017): targets attend to those before them, and to a source.
//
//   x_t <- x_t + Att(x_t, x_1 ... x_t)        x_t <- x_t + Att(x_t, source)        x_t <- x_t + W_out act(W_in x_t)
//
// forward() takes whole targets, for training. start() and step() take them as they come: keys and values of the source
// are projected once, those of the targets are kept in a cache, so that a step costs O(positions so far), not their
// square. Both give the same numbers. Without a source (cross = false) it is a language model.

#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "heed/structures/encode/transformer.h"

namespace heed {

struct LayerCache {
  Memory self, cross;
};

/// What a decoder remembers between steps. Copies share their past: to go two ways from here, copy it.
struct DecoderCache {
  std::vector<LayerCache> layers{};

  /// Targets so far.
  int64_t length() const { return layers.empty() ? 0 : layers[0].self.length(); }
  /// These batch rows, int64 [n], in any order and as often as wanted: a beam search keeps some of its beams.
  DecoderCache select(const Tensor& rows) const;
};

class DecoderLayerImpl : public torch::nn::Cloneable<DecoderLayerImpl> {
 public:
  explicit DecoderLayerImpl(const TransformerOptions& options);
  void reset() override;

  /// x [B, T, width], source [B, L, source]; the steps are called "self" and "cross".
  Transformed forward(const Features& x, const Features& source, const Call& call = {});
  LayerCache start(const Features& source);
  /// x [B, n, width]: the next n targets.
  Transformed step(const Features& x, LayerCache& cache, const Call& call = {});

 private:
  template <typename Self, typename Cross>
  Transformed pass(const Features& x, const Self& self, const Cross& cross);

  TransformerOptions options_;
  Attention self_{nullptr}, cross_{nullptr};
  FeedForward feed_forward_{nullptr};
  torch::nn::LayerNorm self_norm_{nullptr}, cross_norm_{nullptr}, feed_forward_norm_{nullptr};
};
TORCH_MODULE(DecoderLayer);

/// A call is for every layer: noise, path, wants. Its masks and biases are those of self-attention, which is causal
/// besides.
class TransformerDecoderImpl : public torch::nn::Cloneable<TransformerDecoderImpl> {
 public:
  explicit TransformerDecoderImpl(const TransformerOptions& options);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// Targets [B, T, width] and source [B, L, source] give [B, T, width].
  Features forward(const Features& x, const Features& source = {}, const Call& call = {}) {
    return decode(x, source, call).features;
  }
  /// The same, with steps "layers.i.self" and "layers.i.cross" and what the call wants in them: weights [B, H, T, L].
  Transformed decode(const Features& x, const Features& source = {}, const Call& call = {});

  /// The cache before the first target.
  DecoderCache start(const Features& source = {});
  /// The next n targets [B, n, width] give [B, n, width], and are remembered.
  Tensor step(const Tensor& x, DecoderCache& cache) { return decode_next({x, {}}, cache).features.rows; }
  /// The same with padding among them, wants, and steps.
  Transformed decode_next(const Features& x, DecoderCache& cache, const Call& call = {});

  const TransformerOptions& options() const { return options_; }

 private:
  void check_source(const Features& source) const;
  template <typename Layer>
  Transformed pass(const Features& x, const Layer& layer);

  TransformerOptions options_;
  torch::nn::ModuleList layers_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};  // pre-norm only
};
TORCH_MODULE(TransformerDecoder);

}  // namespace heed
