// A graph attention layer: GAT (Velickovic et al., 2018) and GATv2 (Brody et al., 2022).
//
//   GAT    h = W x     e_ij = LeakyReLU(a_self . h_i + a_neighbor . h_j)        c_i = sum_j a_ij h_j
//   GATv2  l = L x, r = R x     e_ij = a . LeakyReLU(l_i + r_j)                  c_i = sum_j a_ij r_j
//
// per head, over the edges j -> i. Heads are concatenated (hidden layers) or averaged (last layer). In GAT the ranking
// of the neighbors j is the same for every i, since e increases with a_neighbor . h_j alone. GATv2 applies a after the
// nonlinearity, so that the ranking depends on i.

#pragma once

#include <string>

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

#include "heed/attention/graph.h"

namespace heed {

enum class GatVersion { v1, v2 };
enum class JoinHeads { concat, mean };
enum class GatActivation { none, elu };

/// Options of a graph attention layer.
struct GraphAttentionOptions {
  int64_t in_dim = 0, out_dim = 0;  // width of a node; width of one head's output
  int64_t num_heads = 1;
  JoinHeads join = JoinHeads::concat;
  GatVersion version = GatVersion::v1;
  std::string alignment = "softmax";  // spec of an alignment that depends on scores alone
  double negative_slope = 0.2;        // of LeakyReLU
  bool self_loops = true;             // adds an edge i -> i for every node
  bool score_bias = false;            // inside LeakyReLU
  bool bias = true;                   // after the heads
  GatActivation activation = GatActivation::none;
  double dropout = 0;  // on attention weights, in training
};

/// Parameters:
///   GAT     values [H, out, in]              W
///           self, neighbor [H, out]         a, its two halves
///           self_bias, neighbor_bias [H]    if score_bias
///   GATv2   receiver, values [H, out, in]    L, R
///           to_scores [H, out]               a
///           hidden_bias [H, out]             if score_bias
///   both    bias [H * out], or [out] for the mean; align.* if the alignment has parameters
class GraphAttentionImpl : public torch::nn::Cloneable<GraphAttentionImpl> {
 public:
  explicit GraphAttentionImpl(GraphAttentionOptions options);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// nodes [N, in] -> context [N, H * out], or [N, out] for the mean. Requested weights are [E, H] in the order of
  /// graph.edges(), followed by those of self loops (Graph::with_self_loops). Of the call, weights, noise, draws_by
  /// (including the self loops, last) and path are used; alignment and parameters are the layer's own.
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
