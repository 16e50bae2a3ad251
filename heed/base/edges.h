// The edges of a graph in CSR format, sorted twice: by receiving node (forward, and gradients of receivers) and by
// sending node (gradients of senders). Each node then sums over its own edges: no atomics, and the same bits on any
// number of threads. A duplicate edge counts twice.

#pragma once

#include <cstdint>
#include <vector>

namespace heed {

/// E edges j -> i between N nodes. Indices have 32 bits to save memory bandwidth: they are half of what a pass reads.
struct Edges {
  int32_t nodes = 0;
  // Sorted by receiver, then in the caller's order. All arrays with one row per edge have this order.
  std::vector<int32_t> first;  // [N + 1]: edges first[i] ... first[i + 1] - 1 lead into i
  std::vector<int32_t> from;   // [E]: j
  std::vector<int32_t> given;  // [E]: index of the edge in the caller's order
  // Sorted by sender, then by receiver.
  std::vector<int32_t> first_out;  // [N + 1]: first_out[j] ... first_out[j + 1] - 1 leave j
  std::vector<int32_t> to;         // [E]: i
  std::vector<int32_t> position;   // [E]: index of the edge in the order by receiver
  // Boundaries of tasks of about equal work, 0 = cuts[0] < cuts[1] < ... <= N. They depend on the graph alone.
  std::vector<int32_t> cuts, cuts_out;

  int64_t size() const { return static_cast<int64_t>(from.size()); }
  int64_t tasks() const { return static_cast<int64_t>(cuts.size()) - 1; }
  int64_t tasks_out() const { return static_cast<int64_t>(cuts_out.size()) - 1; }
};

/// Sorts the edges from[e] -> to[e] in O(N + E). Throws heed::Error for nodes outside 0 ... nodes - 1, for more than
/// 2^31 - 1 edges and for more than 2^31 - 2 nodes.
Edges sort_edges(const int64_t* from, const int64_t* to, int64_t edges, int64_t nodes);

}  // namespace heed
