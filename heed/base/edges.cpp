#include "heed/base/edges.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
constexpr int64_t kTaskWork = 4096, kMaxTasks = 128;  // minimal nodes plus edges of a task; maximal number of tasks

size_t at(int64_t i) {
  return static_cast<size_t>(i);
}

/// Offsets of the nodes if `count` edges are sorted by `node_of(e)`: [N + 1].
template <class NodeOf>
std::vector<int32_t> runs(int64_t count, int64_t nodes, const NodeOf& node_of) {
  std::vector<int32_t> first(at(nodes + 1), 0);
  for (int64_t e = 0; e < count; ++e) ++first[at(node_of(e) + 1)];
  std::partial_sum(first.begin(), first.end(), first.begin());
  return first;
}

std::vector<int32_t> cut(const std::vector<int32_t>& first) {
  const auto nodes = static_cast<int64_t>(first.size()) - 1;
  const int64_t work = nodes + first.back();
  const int64_t tasks = std::clamp<int64_t>(work / kTaskWork, 1, kMaxTasks);
  std::vector<int32_t> cuts{0};
  int64_t node = 0;
  for (int64_t t = 1; t <= tasks; ++t) {
    while (node < nodes && node + first[at(node)] < work * t / tasks) ++node;
    if (t == tasks) node = nodes;
    if (node > cuts.back()) cuts.push_back(static_cast<int32_t>(node));
  }
  return cuts;
}

}  // namespace

Edges sort_edges(const int64_t* from, const int64_t* to, int64_t edges, int64_t nodes) {
  check(nodes >= 0 && nodes < kMax && edges >= 0 && edges <= kMax, "graph: got ", nodes, " nodes and ", edges,
        " edges, expected at most ", kMax, " of each");
  for (int64_t e = 0; e < edges; ++e)
    check(from[e] >= 0 && from[e] < nodes && to[e] >= 0 && to[e] < nodes, "graph: edge ", e, " is ", from[e], " -> ",
          to[e], ", expected nodes from 0 to ", nodes - 1);
  Edges sorted;
  sorted.nodes = static_cast<int32_t>(nodes);
  sorted.first = runs(edges, nodes, [&](int64_t e) { return to[e]; });
  sorted.from.resize(at(edges));
  sorted.given.resize(at(edges));
  std::vector<int32_t> next = sorted.first;
  for (int64_t e = 0; e < edges; ++e) {
    const int32_t p = next[at(to[e])]++;
    sorted.from[at(p)] = static_cast<int32_t>(from[e]);
    sorted.given[at(p)] = static_cast<int32_t>(e);
  }
  sorted.first_out = runs(edges, nodes, [&](int64_t e) { return sorted.from[at(e)]; });
  sorted.to.resize(at(edges));
  sorted.position.resize(at(edges));
  next = sorted.first_out;
  for (int32_t i = 0; i < sorted.nodes; ++i)
    for (int32_t e = sorted.first[at(i)]; e < sorted.first[at(i + 1)]; ++e) {
      const int32_t k = next[at(sorted.from[at(e)])]++;
      sorted.to[at(k)] = i;
      sorted.position[at(k)] = e;
    }
  sorted.cuts = cut(sorted.first);
  sorted.cuts_out = cut(sorted.first_out);
  return sorted;
}

}  // namespace heed
