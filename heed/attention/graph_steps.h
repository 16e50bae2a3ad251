// Internal: the steps of attention over a graph, each with torch operations (as oracle, for second derivatives and for
// other devices) and with kernels. Tensors [E, ...] are in the sorted order of the edges.

#pragma once

#include "heed/attention/align.h"
#include "heed/attention/graph.h"
#include "heed/backend/backend.h"

namespace heed {

/// Scores padded to blocks: a node of in-degree n gets w slots, w the power of 2 with w / 2 < n <= w. Blocks of equal w
/// are stored one after the other, smallest w first.
struct DegreeBlocks {
  struct Block {
    Tensor nodes;       // int64 [n]
    Tensor keep;        // bool [n, w]
    int64_t first = 0;  // its first slot
  };
  std::vector<Block> blocks;
  Tensor edge;   // int64 [S]: the edge in each slot; 0 if the slot is empty
  Tensor empty;  // bool [S, 1]: whether the slot is empty
  Tensor slot;   // int64 [E]: the slot of each edge
};
DegreeBlocks degree_blocks(const Edges& edges);

namespace graph_steps {

/// Scores [E, H].
Tensor composed_scores(const Graph& graph, const EdgeScore& score);
Tensor kernel_scores(const backend::Backend& backend, const Graph& graph, const EdgeScore& score);

/// Weights [E, H] from scores; log_probability [N, H], if the alignment samples. uniforms: [E, H], or undefined.
struct EdgeWeights {
  Tensor weights, log_probability;
};
EdgeWeights aligned(const Graph& graph, const Alignment& alignment, const Parameters& parameters, const Tensor& scores,
                    const Tensor& uniforms);

/// Weighted sum over incoming edges, [N, H, D].
Tensor composed_sum(const Graph& graph, const Tensor& weights, const Tensor& values);
Tensor kernel_sum(const backend::Backend& backend, const Graph& graph, const Tensor& weights, const Tensor& values);

/// Softmax attention in one pass, returns context and weights. factor: [E, H], multiplies the weights that enter the
/// context (dropout), or undefined.
Tensors kernel_attend(const backend::Backend& backend, const Graph& graph, const EdgeScore& score, const Tensor& values,
                      const Tensor& factor, bool needs_weights);

/// x.index_select(0, rows) where rows has no duplicates, so that backward is an index_select too instead of an
/// index_add. back: for each index of x its index in the result; empty: bool, broadcasts to x, indices of x that are
/// not selected (undefined: none).
Tensor selected(const Tensor& x, const Tensor& rows, const Tensor& back, const Tensor& empty = {});

}  // namespace graph_steps
}  // namespace heed
