// The edges of a graph, sorted twice: by the node that receives (forward, and gradients of receivers) and by the node
// that sends (gradients of senders). Each node then sums over its own edges: no atomics, and the same bits on any
// number of threads. An edge that is given twice counts twice.

#pragma once

#include <cstdint>
#include <vector>

namespace heed::kernels::graph {

/// E edges j -> i between N nodes. Nodes and edges are counted in 32 bits: indices are half of what a pass reads.
struct Edges {
  int32_t nodes = 0;
  // By receiver, of equals in the order given. This is the order of everything that has one row for each edge.
  std::vector<int32_t> first;  // [N + 1]: edges first[i] ... first[i + 1] - 1 lead into i
  std::vector<int32_t> from;   // [E]: j
  std::vector<int32_t> given;  // [E]: which of the edges given this is
  // By sender, of equals by receiver.
  std::vector<int32_t> first_out;  // [N + 1]: first_out[j] ... first_out[j + 1] - 1 leave j
  std::vector<int32_t> to;         // [E]: i
  std::vector<int32_t> position;   // [E]: where the edge stands in the order by receiver
  // Borders of tasks, nodes 0 = cuts[0] < cuts[1] < ... <= N, of about the same work. They depend on the graph alone.
  std::vector<int32_t> cuts, cuts_out;

  int64_t size() const { return static_cast<int64_t>(from.size()); }
  int64_t tasks() const { return static_cast<int64_t>(cuts.size()) - 1; }
  int64_t tasks_out() const { return static_cast<int64_t>(cuts_out.size()) - 1; }
};

/// Refuses nodes outside 0 ... nodes - 1, and more than 2^31 - 1 edges or nodes. O(N + E).
Edges sort_edges(const int64_t* from, const int64_t* to, int64_t edges, int64_t nodes);

}  // namespace heed::kernels::graph
