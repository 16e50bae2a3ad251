// Common parts of Transformer layers (Vaswani et al., 2017).
//
//   norm pre     x + f(norm(x))        with a norm after the last layer        (Xiong et al., 2020)
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
#include "heed/backend/dropout.h"
#include "heed/structures/features.h"
#include "heed/structures/uses.h"

namespace heed {

enum class Norm { pre, post };

/// Options of Transformer encoders and decoders.
struct TransformerOptions {
  int64_t dim = 0;                          // width of input and output
  int64_t num_heads = 1, num_kv_heads = 0;  // num_kv_heads: heads of keys and values; 0: num_heads
  int64_t head_dim = 0;                     // 0: dim / num_heads
  int64_t feed_forward_dim = 0;             // hidden width of the feed-forward sublayer; 0: 4 dim
  int64_t num_layers = 1;
  // In training: on the output of a sublayer, on attention weights, inside the feed-forward sublayer after its
  // activation; the last two below 0: as on the output. A call's seed applies to the weights alone; the others draw
  // from a NoiseScope, or else from torch's generator, which only at::manual_seed makes reproducible.
  double dropout = 0, attention_dropout = -1, activation_dropout = -1;
  Norm norm = Norm::pre;
  std::string activation = "relu";
  std::string mechanism = "scaled_dot + softmax";
  bool bias = true;       // of projections and feed-forward; norms always have a bias
  double epsilon = 1e-5;  // of the norms
  Rotary rotary{};        // in self-attention
  bool alibi = false;     // in self-attention

  // decoders only
  bool cross = true;              // attends to a source
  int64_t source_dim = 0;         // width of the source; 0: dim
  std::string cross_mechanism{};  // spec; empty: that of self-attention
};

/// The result of one layer or of a stack. `steps` holds the result of every attention call, by the name of its module.
struct Transformed {
  Features features;  // 0 at padding; keep of the input
  Steps steps;

  /// The step of that name: "layers.0.self", or "cross" of a single layer. Throws Error if there is none.
  const Attended& step(const std::string& name) const { return step_of(steps, name, "transformer"); }
};

/// Checks the options (throws Error) and replaces zeros by their defaults.
TransformerOptions completed(TransformerOptions options);

/// Reads num_layers, num_heads, norm, positions and feed_forward_dim from the spec of a structure. The values in
/// `options` are the defaults.
void read_spec(const Options& spec, TransformerOptions& options);

/// The Attention of a layer. keys: width of the features that become keys and values.
Attention transformer_attention(const TransformerOptions& options, int64_t keys, const std::string& mechanism,
                                const Rotary& rotary);

/// Checks shape [B, L, width], dtype, device and keep of x; own: a parameter of the layer. Throws Error.
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

/// One sublayer f with its norm, dropout and residual connection.
template <typename Sublayer>
Tensor residual(const Tensor& x, torch::nn::LayerNorm& norm, const TransformerOptions& o, bool training,
                const Sublayer& f) {
  if (o.norm == Norm::pre) return x + heed::dropout(f(norm(x)), o.dropout, training);
  return norm(x + heed::dropout(f(x), o.dropout, training));
}

}  // namespace heed
