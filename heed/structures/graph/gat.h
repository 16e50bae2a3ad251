// A layer of graph attention: GAT (Velickovic et al., 2018) and GATv2 (Brody et al., 2022).
//
//   GAT    h = W x     e_ij = LeakyReLU(a_self . h_i + a_neighbor . h_j)        c_i = sum_j a_ij h_j
//   GATv2  l = L x, r = R x     e_ij = a . LeakyReLU(l_i + r_j)                  c_i = sum_j a_ij r_j
//
// per head, over the edges j -> i; heads are joined side by side (hidden layers) or by their mean (the last one). In
// GAT the order in which j are preferred is the same for every i, since e grows with a_neighbor . h_j alone; GATv2
// puts a after the nonlinearity and is free to prefer others for others.

#pragma once

#include <string>

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

#include "heed/attention/graph.h"

namespace heed {

enum class GatVersion { v1, v2 };
enum class JoinHeads { concat, mean };
enum class GatActivation { none, elu };

struct GraphAttentionOptions {
  int64_t in_dim = 0, out_dim = 0;  // widths: of a node, and of one head
  int64_t num_heads = 1;
  JoinHeads join = JoinHeads::concat;
  GatVersion version = GatVersion::v1;
  std::string alignment = "softmax";  // any that looks at scores alone
  double negative_slope = 0.2;        // of LeakyReLU below 0
  bool self_loops = true;             // every node attends itself too
  bool score_bias = false;            // inside LeakyReLU
  bool bias = true;                   // after the heads
  GatActivation activation = GatActivation::none;
  double dropout = 0;  // on weights, in training
};

/// Parameters:
///   GAT     values [H, out, in]              W
///           self, neighbor [H, out]         a, its two halves
///           self_bias, neighbor_bias [H]    if score_bias
///   GATv2   receiver, values [H, out, in]    L, R
///           to_scores [H, out]               a
///           hidden_bias [H, out]             if score_bias
///   both    bias [H * out], or [out] for the mean; align.* where the alignment has parameters
class GraphAttentionImpl : public torch::nn::Cloneable<GraphAttentionImpl> {
 public:
  explicit GraphAttentionImpl(GraphAttentionOptions options);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// nodes [N, in] -> context [N, H * out], or [N, out] for the mean. Weights, if wanted, are [E, H] in the order of
  /// graph.edges(), those of self loops after (Graph::with_self_loops). Of the call, weights, noise, draws_by
  /// (for self loops too, after) and path count: alignment and parameters are the layer's own.
  GraphAttended forward(const Tensor& nodes, const Graph& graph, const GraphCall& call = {});

  const GraphAttentionOptions& options() const { return options_; }
  /// Width of the context.
  int64_t width() const;

 private:
  EdgeScore score_of(const Tensor& nodes, const Tensor& values) const;
  Tensor joined(const Tensor& heads) const;

  GraphAttentionOptions options_;
};
TORCH_MODULE(GraphAttention);

}  // namespace heed
