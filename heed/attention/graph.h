// Attention over the edges of a graph: node i attends those j that an edge j -> i leads from.
//
//   e_ij = LeakyReLU(s_i + t_j)                   GAT    (Velickovic et al., 2018)
//   e_ij = a . LeakyReLU(l_i + r_j)               GATv2  (Brody et al., 2022)
//   a_i. = align(e_i.) over the edges into i      c_i = sum_j a_ij v_j
//
// per head. Nothing is stored that has a row of features for each edge: time is O(E H D), memory O((N D + E) H).
// A node that nothing leads into has no weights and c = 0 (D1): add self loops if it should attend itself.
//
// What stands at a node that no edge needs is not read (D3). NaN in a value that an edge leads from, but whose weight
// is exactly 0 (sparsemax, dropout), is not promised to stay away: kernels skip that row, composed gives 0 * NaN = NaN.

#pragma once

#include <memory>
#include <string>

#include "heed/attention/call.h"

namespace heed {

namespace kernels::graph {
struct Edges;
}
struct DegreeBlocks;

/// A directed graph, sorted once for any number of calls; copies share it. An edge that is given twice counts twice.
class Graph {
 public:
  /// edges: int64 [2, E], row 0 the nodes that send, row 1 those that receive, in any order. A node is a number from 0
  /// to nodes - 1.
  Graph(const Tensor& edges, int64_t nodes);

  /// With i -> i for every node that has none yet, by node, after the other edges; made at the first call.
  Graph with_self_loops() const;

  int64_t nodes() const;
  int64_t size() const;         // E
  const Tensor& edges() const;  // int64 [2, E], in the order given, on the CPU
  /// bool [N]: whether any edge enters or leaves the node.
  const Tensor& connected() const;

  const kernels::graph::Edges& sorted() const;
  /// int64 [E]: edge e of the sorted order is edge order()[e] of those given; and the other way round.
  Tensor order() const;
  Tensor position() const;
  /// Nodes by the number of edges into them, made at the first call.
  const DegreeBlocks& blocks() const;

 private:
  struct EdgeOrder;
  std::shared_ptr<const EdgeOrder> held_;
};

/// How an edge j -> i is scored.
struct EdgeScore {
  Tensor receiver, sender;      // GAT: s, t [N, H].  GATv2: l, r [N, H, D]
  Tensor to_scores{};           // GATv2: a [H, D]
  double negative_slope = 0.2;  // of LeakyReLU below 0
};

struct GraphCall {
  std::string alignment = "softmax";  // any that looks at nothing but scores
  Parameters parameters{};            // of the alignment, by their bare names
  Noise noise{};                      // all but uniforms. A number belongs to an edge, as given, and a head
  /// int64 [2, E]: the batch row, counted from noise.first_row, and the number in that row that each edge, as given,
  /// draws by; undefined: row 0 and its position. For graphs that are parts of others. Numbers count up from 0: all of
  /// them are drawn, up to the largest.
  Tensor draws_by{};
  bool weights = false;       // bring them too
  Path path = Path::fastest;  // fused: kernels, CPU; composed: torch's own operations, anywhere
};

/// What was not wanted is undefined.
struct GraphAttended {
  Tensor context;            // [N, H, D]
  Tensor weights{};          // [E, H], in the order of Graph::edges(), before dropout; differentiable
  Tensor log_probability{};  // [N, H]: of what was drawn, where the alignment is hard
  Path path = Path::fused;   // that was taken
  bool sampled = false;      // the alignment drew
  uint64_t seed = 0;         // that was used; 0: nothing was drawn
};

/// values [N, H, D], float or double. With softmax and kernels scores, weights and context are one pass over the edges;
/// any other alignment works on blocks of nodes with nearly equal numbers of edges, at most twice as many slots as
/// edges.
GraphAttended graph_attend(const Graph& graph, const EdgeScore& score, const Tensor& values, const GraphCall& = {});

/// The alignment that a graph can have, or an error with the reason: positions of queries and keys, and policies over
/// keys, have no meaning for nodes. For modules, to refuse early.
void check_graph_alignment(const std::string& spec);

}  // namespace heed
