#include "heed/kernels/cpu/gradient_index.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/kernels/cpu/traits.h"

namespace heed::kernels::cpu {
namespace {

void check_index(const char* what, int64_t index, int64_t size) {
  check(index >= 0 && index < size, "kernels/cpu: got ", what, " ", index, ", expected 0 to ", size - 1);
}

template <typename Real>
void check_links(const Problem<Real>& p, const Gradients<Real>& g) {
  check(g.links != nullptr || g.link_count == 0, "kernels/cpu: got null links, expected those of the report");
  const int64_t sizes[] = {p.batch, p.heads, p.queries, p.keys};
  const char* const names[] = {"batch element of a link", "head of a link", "query of a link", "key of a link"};
  for (int64_t i = 0; i < 4 * g.link_count; ++i) check_index(names[i % 4], g.links[i], sizes[i % 4]);
}

}  // namespace

template <typename Real>
GradientIndex<Real>::GradientIndex(const Problem<Real>& p, const Gradients<Real>& g) {
  const AlignTraits align = traits(p.align);
  if (!align.reads_scores) return;
  const bool through_weights = !align.scores_need_log_probability;
  if (g.weights != nullptr && through_weights) {
    indexed_.weights = g.weights;
    indexed_.head_count = g.head_count > 0 ? g.head_count : p.heads;
    indexed_.query_count = g.query_count > 0 ? g.query_count : p.queries;
    check(g.head_count == 0 || g.some_heads != nullptr, "kernels/cpu: got null some_heads for ", g.head_count,
          " heads, expected their indices");
    check(g.query_count == 0 || g.some_queries != nullptr, "kernels/cpu: got null some_queries for ", g.query_count,
          " queries, expected their indices");
    indexed_.heads = invert(g.some_heads, g.head_count, p.heads, heads_);
    indexed_.queries = invert(g.some_queries, g.query_count, p.queries, queries_);
  }
  indexed_.entropy = g.entropy;
  indexed_.reported_entropy = g.reported_entropy;
  if (through_weights) indexed_.column_mass = g.column_mass;
  const bool with_top = g.top_weights != nullptr && through_weights;
  check(!with_top || g.top_keys != nullptr, "kernels/cpu: got null top_keys, expected those of the report");
  if (with_top || g.link_log_weights != nullptr) sort_pairs(p, g, with_top);
}

template <typename Real>
Occurrences GradientIndex<Real>::invert(const int64_t* selected, int64_t count, int64_t size, Occurring& to) {
  if (count == 0) return {};
  to.start.assign(static_cast<size_t>(size + 1), 0);
  to.items.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    check_index("a selected query or head", selected[i], size);
    ++to.start[static_cast<size_t>(selected[i] + 1)];
  }
  for (size_t i = 1; i < to.start.size(); ++i) to.start[i] += to.start[i - 1];
  std::vector<int64_t> next(to.start.begin(), to.start.end() - 1);
  for (int64_t i = 0; i < count; ++i) to.items[static_cast<size_t>(next[static_cast<size_t>(selected[i])]++)] = i;
  return {to.start.data(), to.items.data()};
}

/// Counts the pairs of each row, then fills in and sorts by key. A gradient of 0 is left out.
template <typename Real>
void GradientIndex<Real>::sort_pairs(const Problem<Real>& p, const Gradients<Real>& g, bool with_top) {
  const bool with_links = g.link_log_weights != nullptr;
  if (with_links) check_links(p, g);
  const int64_t rows = p.batch * p.heads * p.queries;
  const auto each = [&](auto take) {
    for (int64_t i = 0; with_top && i < rows * g.top; ++i) {
      if (g.top_keys[i] < 0 || g.top_weights[i] == 0) continue;
      check_index("a top key", g.top_keys[i], p.keys);
      take(static_cast<size_t>(i / g.top),
           PairGradient<Real>{static_cast<int32_t>(g.top_keys[i]), false, g.top_weights[i]});
    }
    for (int64_t i = 0; with_links && i < g.link_count; ++i) {
      const int64_t* link = g.links + 4 * i;
      if (g.link_log_weights[i] == 0) continue;
      take(static_cast<size_t>(p.row_index(link[0], link[1], link[2])),
           PairGradient<Real>{static_cast<int32_t>(link[3]), true, g.link_log_weights[i]});
    }
  };
  pair_start_.assign(static_cast<size_t>(rows + 1), 0);
  each([&](size_t row, const PairGradient<Real>&) { ++pair_start_[row + 1]; });
  for (size_t i = 1; i < pair_start_.size(); ++i) pair_start_[i] += pair_start_[i - 1];
  pairs_.resize(static_cast<size_t>(pair_start_.back()));
  std::vector<int64_t> next(pair_start_.begin(), pair_start_.end() - 1);
  each([&](size_t row, const PairGradient<Real>& pair) { pairs_[static_cast<size_t>(next[row]++)] = pair; });
  for (size_t row = 0; row + 1 < pair_start_.size(); ++row)
    std::stable_sort(pairs_.begin() + pair_start_[row], pairs_.begin() + pair_start_[row + 1],
                     [](const auto& a, const auto& b) { return a.key < b.key; });
  if (pairs_.empty()) return;
  indexed_.pairs = pairs_.data();
  indexed_.pair_start = pair_start_.data();
  indexed_.pair_count = static_cast<int64_t>(pairs_.size());
}

template class GradientIndex<float>;
template class GradientIndex<double>;

}  // namespace heed::kernels::cpu
