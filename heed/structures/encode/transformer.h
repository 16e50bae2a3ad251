// What the layers of a Transformer have in common (Vaswani et al., 2017).
//
//   norm pre     x + f(norm(x))        a norm stands after the last layer      (Xiong et al., 2020)
//   norm post    norm(x + f(x))        as in the paper
//   feed-forward W_out act(W_in x)

#pragma once

#include <string>
#include <utility>
#include <vector>

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include "heed/attention/activation.h"
#include "heed/attention/attention.h"
#include "heed/bridge/noise_scope.h"
#include "heed/structures/features.h"
#include "heed/structures/uses.h"

namespace heed {

enum class Norm { pre, post };

struct TransformerOptions {
  int64_t dim = 0;                 // of what comes in and goes out
  int64_t num_heads = 1, num_kv_heads = 0;  // key_heads: heads that share keys and values (0: each has its own)
  int64_t head_dim = 0;            // 0: width / heads
  int64_t feed_forward_dim = 0;          // its hidden width (0: four times the width)
  int64_t num_layers = 1;
  // In training: on weights, on what a sublayer adds, inside the feed-forward. A call's seed is for the weights alone;
  // the others draw from a NoiseScope, or else from torch's generator: a seed without at::manual_seed does not fix the
  // answer there.
  double dropout = 0;
  Norm norm = Norm::pre;
  std::string activation = "relu";
  std::string mechanism = "scaled_dot + softmax";
  bool bias = true;  // of projections and feed-forward; norms always have theirs
  double epsilon = 1e-5;
  Rotary rotary{};     // in self-attention
  bool alibi = false;  // in self-attention

  // decoders only
  bool cross = true;              // attends to a source
  int64_t source_dim = 0;             // width of the source (0: width)
  std::string cross_mechanism{};  // "": that of self-attention
};

/// What a layer or a stack of them gives. Every use of a mechanism is there, by the name of its module.
struct Transformed {
  Features features;  // 0 at padding; the keep of the input
  Steps steps;

  /// The step of that name: "layers.0.self", or "cross" of a single layer.
  const Attended& step(const std::string& name) const { return step_of(steps, name, "transformer"); }
};

/// Checks the options and fills in what is 0.
TransformerOptions completed(TransformerOptions options);

/// Reads what structures made of such layers have in their words: layers, heads, norm, positions, feed_forward. What is
/// there already is what they are otherwise.
void read_spec(const Options& spec, TransformerOptions& options);

/// Attention of such a layer; keys, values: from features that are so wide.
Attention transformer_attention(const TransformerOptions& options, int64_t keys, const std::string& mechanism,
                                const Rotary& rotary);

/// Checks x [B, L, width], its type and its keep; own: a parameter of the layer.
void check_positions(const std::string& what, const Features& x, int64_t width, const Tensor& own);

class FeedForwardImpl : public torch::nn::Cloneable<FeedForwardImpl> {
 public:
  explicit FeedForwardImpl(const TransformerOptions& options);
  void reset() override;
  Tensor forward(const Tensor& x);

 private:
  TransformerOptions options_;
  Activation activation_;
  torch::nn::Linear in_{nullptr}, out_{nullptr};
};
TORCH_MODULE(FeedForward);

torch::nn::LayerNorm transformer_norm(const TransformerOptions& options);

/// One sublayer f with its norm and the way around it.
template <typename Sublayer>
Tensor residual(const Tensor& x, torch::nn::LayerNorm& norm, const TransformerOptions& o, bool training,
                const Sublayer& f) {
  if (o.norm == Norm::pre) return x + heed::dropout(f(norm(x)), o.dropout, training);
  return norm(x + heed::dropout(f(x), o.dropout, training));
}

}  // namespace heed
