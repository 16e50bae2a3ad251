// The steps of attention over a graph, each as torch's own operations (the oracle, second derivatives, other devices)
// and by kernels. Inside, what has a row for each edge is in the sorted order.

#pragma once

#include "heed/attention/align.h"
#include "heed/attention/graph.h"
#include "heed/bridge/own_backward.h"

namespace heed {

/// Slots of scores: nodes with w / 2 < n <= w edges into them, w a power of 2, get w slots each. After each other,
/// narrow blocks first.
struct DegreeBlocks {
  struct Block {
    Tensor nodes;       // int64 [n]
    Tensor keep;        // bool [n, w]
    int64_t first = 0;  // slot
  };
  std::vector<Block> blocks;
  Tensor edge;   // int64 [S]: the edge in a slot; 0 where there is none
  Tensor empty;  // bool [S, 1]
  Tensor slot;   // int64 [E]: where an edge is
};
DegreeBlocks degree_blocks(const kernels::graph::Edges& edges);

namespace graph_steps {

/// Scores [E, H].
Tensor composed_scores(const Graph& graph, const EdgeScore& score);
Tensor kernel_scores(const Graph& graph, const EdgeScore& score);

/// Weights [E, H] from scores; log_probability [N, H], if the alignment draws. uniforms [E, H], or undefined.
struct EdgeWeights {
  Tensor weights, log_probability;
};
EdgeWeights aligned(const Graph& graph, const Alignment& alignment, const Parameters& parameters, const Tensor& scores,
                    const Tensor& uniforms);

/// [N, H, D].
Tensor composed_sum(const Graph& graph, const Tensor& weights, const Tensor& values);
Tensor kernel_sum(const Graph& graph, const Tensor& weights, const Tensor& values);

/// Softmax in one pass. factor [E, H]: on the weights that enter the context, or undefined. -> context, weights.
Tensors kernel_attend(const Graph& graph, const EdgeScore& score, const Tensor& values, const Tensor& factor,
                      bool needs_weights);

/// x[rows], where no row is read twice: backward picks too, instead of adding. back: the row of the result that each
/// row of x went to; empty: bool, broadcasts to x, rows that went nowhere (undefined: none).
Tensor selected(const Tensor& x, const Tensor& rows, const Tensor& back, const Tensor& empty = {});

}  // namespace graph_steps
}  // namespace heed
