// The encoder of a Transformer (Vaswani et al., 2017): features attend to each other, layer by layer.
//
//   x <- x + Att(x, x)        x <- x + W_out act(W_in x)        with norms before or after (transformer.h)
//
// The caller adds position encodings, unless rotary or alibi is set. With Causal::top_left it is a decoder without a
// source; for decoding step by step with a cache use TransformerDecoder.

#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "heed/structures/encode/transformer.h"

namespace heed {

class EncoderLayerImpl : public torch::nn::Cloneable<EncoderLayerImpl> {
 public:
  explicit EncoderLayerImpl(const TransformerOptions& options);
  void reset() override;
  /// x [B, L, dim] -> [B, L, dim]; the step is named "self".
  Transformed forward(const Features& x, const Call& call = {});

 private:
  TransformerOptions options_;
  Attention self_{nullptr};
  FeedForward feed_forward_{nullptr};
  torch::nn::LayerNorm self_norm_{nullptr}, feed_forward_norm_{nullptr};
};
TORCH_MODULE(EncoderLayer);

class TransformerEncoderImpl : public torch::nn::Cloneable<TransformerEncoderImpl> {
 public:
  explicit TransformerEncoderImpl(const TransformerOptions& options);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// rows [B, L, dim] -> [B, L, dim]. The call applies to every layer: noise, path, causal, window, biases.
  Features forward(const Features& x, const Call& call = {}) { return encode(x, call).features; }
  /// The same with a step "layers.i.self" for each layer, which holds the requested outputs.
  Transformed encode(const Features& x, const Call& call = {});

  const TransformerOptions& options() const { return options_; }

 private:
  TransformerOptions options_;
  torch::nn::ModuleList layers_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};  // pre-norm only
};
TORCH_MODULE(TransformerEncoder);

}  // namespace heed
