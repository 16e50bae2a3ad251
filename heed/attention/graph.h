// Attention over the edges of a graph: node i attends the nodes j with an edge j -> i.
//
//   e_ij = LeakyReLU(s_i + t_j)                   GAT    (Velickovic et al., 2018)
//   e_ij = a . LeakyReLU(l_i + r_j)               GATv2  (Brody et al., 2022)
//   a_i. = align(e_i.) over the edges into i      c_i = sum_j a_ij v_j
//
// per head. No tensor [E, H, D] is stored: time is O(E H D), memory O((N D + E) H). A node without incoming edges has
// no weights and c = 0 (D1): add self loops if it should attend itself.
//
// Features of a node without edges are not read (D3). NaN in a value whose weight is exactly 0 (sparsemax, dropout) may
// or may not reach the context: kernels skip that value, the composed path computes 0 * NaN = NaN.

#pragma once

#include <memory>
#include <string>

#include "heed/call.h"
#include "heed/parameters.h"

namespace heed {

struct Edges;
struct DegreeBlocks;

/// A directed graph, sorted once for any number of calls; copies share the data. An edge given twice counts twice.
class Graph {
 public:
  /// edges: int64 [2, E] in any order; edges[0] are the senders j, edges[1] the receivers i, each 0 to nodes - 1.
  Graph(const Tensor& edges, int64_t nodes);

  /// The graph with an edge i -> i for every node that has none, appended in the order of the nodes. Cached.
  Graph with_self_loops() const;

  int64_t nodes() const;
  int64_t size() const;         // E
  const Tensor& edges() const;  // int64 [2, E], in the order given, on the CPU
  /// bool [N]: whether any edge enters or leaves the node.
  const Tensor& connected() const;

  const std::shared_ptr<const Edges>& sorted() const;
  /// int64 [E]: sorted edge e is edge order()[e] of edges(). position() is the inverse permutation.
  Tensor order() const;
  Tensor position() const;
  /// Nodes grouped by in-degree. Cached.
  const DegreeBlocks& blocks() const;

 private:
  struct EdgeOrder;
  std::shared_ptr<const EdgeOrder> held_;
};

/// Terms of the score of an edge j -> i.
struct EdgeScore {
  Tensor receiver, sender;      // GAT: s, t [N, H].  GATv2: l, r [N, H, D]
  Tensor to_scores{};           // GATv2: a [H, D]
  double negative_slope = 0.2;  // of LeakyReLU
};

struct GraphCall {
  std::string alignment = "softmax";  // any that depends on scores alone
  Parameters parameters{};            // of the alignment, by their bare names
  Noise noise{};                      // without uniforms. Random numbers are indexed by the given edge and the head
  /// int64 [2, E], for graphs that are parts of larger ones: the batch element (counted from noise.first_row) and the
  /// index within it by which each given edge draws its random numbers. Undefined: element 0 and the index of the edge.
  /// Indices start at 0; numbers are drawn for all indices up to the largest.
  Tensor draws_by{};
  bool weights = false;       // return the weights
  Path path = Path::fastest;  // fused: kernels, CPU; composed: torch operations, any device; fastest: fused on the CPU
};

/// Result of graph_attend. Outputs that were not requested are undefined.
struct GraphAttended {
  Tensor context;            // [N, H, D]
  Tensor weights{};          // [E, H], in the order of Graph::edges(), before dropout; differentiable
  Tensor log_probability{};  // [N, H]: of the sampled edge, if the alignment is hard
  Path path = Path::fused;   // the path in use
  bool sampled = false;      // whether the alignment samples
  uint64_t seed = 0;         // seed in use; 0: no random numbers
};

/// values: [N, H, D], float or double; of half types the context has that type. Softmax on the fused path computes
/// scores, weights and context in one pass over the edges. Other alignments work on blocks of nodes of similar
/// in-degree, padded to at most twice as many slots as edges. Throws Error if an input does not fit.
GraphAttended graph_attend(const Graph& graph, const EdgeScore& score, const Tensor& values, const GraphCall& = {});

/// Throws Error, with the reason, if a graph cannot have this alignment: positions of queries and keys, and policies
/// over keys, are not defined for nodes. For modules, to fail at construction.
void check_graph_alignment(const std::string& spec);

}  // namespace heed
