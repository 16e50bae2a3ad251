// The decoder of a Transformer (Vaswani et al., 2017): causal self-attention and cross-attention to a source.
//
//   x_t <- x_t + Att(x_t, x_1 ... x_t)        x_t <- x_t + Att(x_t, source)        x_t <- x_t + W_out act(W_in x_t)
//
// forward() takes all targets at once, for training. start() and step() take them one by one: keys and values of the
// source are projected once, those of the targets are cached, so that a step costs O(positions so far), not their
// square. Both give the same numbers. Without a source (cross = false) it is a language model.

#pragma once

#include <functional>
#include <vector>

#include <torch/nn/modules/container/modulelist.h>

#include "heed/structures/encode/transformer.h"

namespace heed {

/// Keys and values of one layer: of the targets so far, and of the source.
struct LayerCache {
  Memory self, cross;
};

/// The cache of a decoder between steps. Copies share their past and continue independently.
struct DecoderCache {
  std::vector<LayerCache> layers{};

  /// Number of targets so far.
  int64_t length() const { return layers.empty() ? 0 : layers[0].self.length(); }
  /// The cache of these batch elements: int64 [n], in any order, repeats allowed. A beam search selects its beams.
  DecoderCache select(const Tensor& rows) const;
  /// The same for rows [B] that replace each batch element by one of the same source: the source is shared, not copied.
  DecoderCache reorder(const Tensor& rows) const;
};

/// A cache whose tensors keep their memory and shapes while targets are added: a step with it does the same work each
/// time, so that it can be recorded and repeated (torch_support/captured.h). Made by TransformerDecoder::fixed().
struct FixedDecoderCache {
  std::vector<LayerCache> layers{};  // self: of `capacity` targets, not all of which are there yet
  Tensor key_count;                  // int64 [B]: how many are, of each batch element
  Tensor position;                   // int64 [1]: the same

  int64_t capacity() const { return layers.at(0).self.values.rows().size(2); }
  /// As of a DecoderCache; the tensors are others afterwards.
  FixedDecoderCache select(const Tensor& rows) const;
  /// Replaces each batch element by one of the same source, in place: rows int64 [B]. beams: batch elements of a
  /// source, which follow each other; 0: unknown.
  void reorder(const Tensor& rows, int64_t beams = 0);
};

/// Makes the cross-attention of a layer. Called once per layer.
using CrossAttentionMaker = std::function<Attention()>;

/// Outputs requested of the cross-attention of one layer, in place of those of the call, and weights that replace its
/// own. With `squares` there is a step of their own, "layers.1.squares": its lse is that of the doubled scores, so that
///
///   sum_j a_ij^2 = exp(lse_i - 2 lse'_i)         lse: of "layers.1.squares"   lse': of "layers.1.cross"
///
/// holds for softmax, which is what the sum of squared weights costs without the weights.
struct CrossOutputs {
  int64_t layer = -1;  // -1: none
  Outputs outputs{};
  bool squares = false;
  ReplaceWeights replace_weights{};
};

class DecoderLayerImpl : public torch::nn::Cloneable<DecoderLayerImpl> {
 public:
  /// make_cross: makes the cross-attention; empty: it is made from the options.
  explicit DecoderLayerImpl(const TransformerOptions& options, const CrossAttentionMaker& make_cross = {});
  void reset() override;

  /// x [B, T, dim], source [B, L, source_dim]; the steps are named "self" and "cross".
  /// of_cross: requested of cross-attention in place of what the call requests.
  Transformed forward(const Features& x, const Features& source, const Call& call = {},
                      const CrossOutputs* of_cross = nullptr);
  /// The cache before the first target.
  LayerCache start(const Features& source);
  /// x [B, n, dim]: the next n targets. Appends them to the cache.
  Transformed step(const Features& x, LayerCache& cache, const Call& call = {});
  /// x [B, 1, dim]: the next target, which is written to that position of the cache.
  Transformed step_at(const Tensor& position, const Features& x, LayerCache& cache, const Call& call = {});
  /// Whether a step does the same work at every position.
  bool steps_alike() const;

 private:
  void build(const CrossAttentionMaker& make_cross);
  template <typename Self, typename Cross>
  Transformed pass(const Features& x, const Self& self, const Cross& cross);

  TransformerOptions options_;
  Attention self_{nullptr}, cross_{nullptr};
  FeedForward feed_forward_{nullptr};
  torch::nn::LayerNorm self_norm_{nullptr}, cross_norm_{nullptr}, feed_forward_norm_{nullptr};
};
TORCH_MODULE(DecoderLayer);

/// A call applies to every layer: noise, path, requested outputs. Its masks and biases apply to self-attention, which
/// is always causal as well.
class TransformerDecoderImpl : public torch::nn::Cloneable<TransformerDecoderImpl> {
 public:
  /// make_cross: makes the cross-attention of each layer; empty: they are made from the options.
  explicit TransformerDecoderImpl(const TransformerOptions& options, const CrossAttentionMaker& make_cross = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// Targets x [B, T, dim] and source [B, L, source_dim] give [B, T, dim].
  Features forward(const Features& x, const Features& source = {}, const Call& call = {}) {
    return decode(x, source, call).features;
  }
  /// The same with the steps "layers.i.self" and "layers.i.cross", which hold the requested outputs: weights
  /// [B, H, T, L].
  Transformed decode(const Features& x, const Features& source = {}, const Call& call = {},
                     const CrossOutputs& of_cross = {});

  /// The cache before the first target.
  DecoderCache start(const Features& source = {});
  /// The next n targets [B, n, dim] give [B, n, dim], and are appended to the cache.
  Tensor step(const Tensor& x, DecoderCache& cache) { return decode_next({x, {}}, cache).features.rows; }
  /// The same with padding, requested outputs and steps.
  Transformed decode_next(const Features& x, DecoderCache& cache, const Call& call = {});

  /// Whether there can be a fixed cache: no mechanism, rotation or bias reads positions.
  bool steps_alike() const;
  /// A copy of the cache, which is not empty, with a capacity of so many targets in all.
  FixedDecoderCache fixed(const DecoderCache& cache, int64_t capacity) const;
  /// The same of a fixed cache, whose first `length` targets are there.
  FixedDecoderCache fixed(const FixedDecoderCache& cache, int64_t length, int64_t capacity) const;
  /// The next target [B, 1, dim]; the cache must have capacity for it. Draws nothing.
  Transformed decode_next(const Features& x, FixedDecoderCache& cache, const Call& call = {});

  const TransformerOptions& options() const { return options_; }

 private:
  void build(const CrossAttentionMaker& make_cross);
  void check_source(const Features& source) const;
  template <typename Layer>
  Transformed pass(const Features& x, const Layer& layer);

  TransformerOptions options_;
  torch::nn::ModuleList layers_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};  // pre-norm only
};
TORCH_MODULE(TransformerDecoder);

}  // namespace heed
