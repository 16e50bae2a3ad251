#include "heed/attention/graph_steps.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "heed/backend/run.h"
#include "heed/base/edges.h"

namespace heed {

using namespace backend;

DegreeBlocks degree_blocks(const Edges& edges) {
  const auto at = [](int64_t i) { return static_cast<size_t>(i); };
  const auto count = [&](int64_t i) { return edges.first[at(i + 1)] - edges.first[at(i)]; };
  std::vector<std::vector<int64_t>> nodes(32);  // by log2 of the slots
  for (int64_t i = 0; i < edges.nodes; ++i)
    if (count(i) > 0) nodes[at(std::bit_width(static_cast<uint32_t>(count(i) - 1)))].push_back(i);
  int64_t slots = 0;
  for (size_t b = 0; b < nodes.size(); ++b) slots += static_cast<int64_t>(nodes[b].size()) << b;

  DegreeBlocks all;
  all.edge = at::zeros({slots}, at::kLong);
  all.empty = at::ones({slots, 1}, at::kBool);
  all.slot = at::empty({edges.size()}, at::kLong);
  auto* edge = all.edge.data_ptr<int64_t>();
  auto* empty = all.empty.data_ptr<bool>();
  auto* slot = all.slot.data_ptr<int64_t>();
  int64_t first = 0;
  for (size_t b = 0; b < nodes.size(); ++b) {
    if (nodes[b].empty()) continue;
    const int64_t width = int64_t{1} << b, rows = static_cast<int64_t>(nodes[b].size());
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t i = nodes[b][at(r)], position = first + r * width;
      for (int64_t k = 0; k < count(i); ++k) {
        edge[position + k] = edges.first[at(i)] + k;
        empty[position + k] = false;
        slot[edges.first[at(i)] + k] = position + k;
      }
    }
    all.blocks.push_back({at::tensor(nodes[b], at::kLong),
                          all.empty.narrow(0, first, rows * width).view({rows, width}).logical_not(), first});
    first += rows * width;
  }
  return all;
}

namespace graph_steps {
namespace {

Tensor long_tensor(const std::vector<int32_t>& x, const at::Device& device) {
  const auto here = at::empty({static_cast<int64_t>(x.size())}, at::kLong);
  std::copy(x.begin(), x.end(), here.data_ptr<int64_t>());
  return here.to(device);
}

/// int64 [E]: senders and receivers of the sorted edges.
Tensor senders(const Graph& graph, const Tensor& like) {
  return long_tensor(graph.sorted()->from, like.device());
}
Tensor receivers(const Graph& graph, const Tensor& like) {
  return graph.edges()[1].index_select(0, graph.order()).to(like.device());
}

/// Sum of x [E, ...] over the edges into each node.
Tensor summed(const Tensor& x, const Tensor& receiver, int64_t nodes) {
  auto shape = x.sizes().vec();
  shape[0] = nodes;
  return at::zeros(shape, x.options()).index_add(0, receiver, x);
}

class Selection final : public OwnBackward {
 public:
  Selection(Tensor rows, Tensor back, Tensor empty)
      : rows_(std::move(rows)), back_(std::move(back)), empty_(std::move(empty)) {}
  Tensors forward(const Tensors& in) override { return {in[0].index_select(0, rows_)}; }
  Tensors backward(const Tensors&, const Tensors& grads, const std::vector<bool>&) override {
    const auto grad = grads[0].index_select(0, back_);
    return {empty_.defined() ? grad.masked_fill(empty_, 0.0) : grad};
  }

 private:
  Tensor rows_, back_, empty_;
};

}  // namespace

Tensor composed_scores(const Graph& graph, const EdgeScore& score) {
  const auto receiver = score.receiver.index_select(0, receivers(graph, score.receiver));
  const auto sender = score.sender.index_select(0, senders(graph, score.sender));
  const auto leaky = at::leaky_relu(receiver + sender, score.negative_slope);
  return score.to_scores.defined() ? (leaky * score.to_scores).sum(-1) : leaky;
}

Tensor composed_sum(const Graph& graph, const Tensor& weights, const Tensor& values) {
  const auto sent = values.index_select(0, senders(graph, values));  // [E, H, D]
  return summed(weights.unsqueeze(-1) * sent, receivers(graph, values), graph.nodes());
}

namespace {

GraphRecord record_of(const Graph& graph, GraphStep step, Tensors in) {
  GraphRecord record;
  record.step = step;
  record.edges = graph.sorted();
  record.in = std::move(in);
  return record;
}

}  // namespace

Tensor kernel_scores(const Backend& backend, const Graph& graph, const EdgeScore& score) {
  auto record = record_of(graph, GraphStep::scores, {score.receiver, score.sender, score.to_scores});
  record.negative_slope = score.negative_slope;
  record.composed = [graph, negative_slope = score.negative_slope](const Tensors& in) {
    return Tensors{composed_scores(graph, {in[0], in[1], in[2], negative_slope})};
  };
  return run_graph(backend, std::move(record))[0];
}

Tensor kernel_sum(const Backend& backend, const Graph& graph, const Tensor& weights, const Tensor& values) {
  auto record = record_of(graph, GraphStep::sum, {weights, values});
  record.composed = [graph](const Tensors& in) { return Tensors{composed_sum(graph, in[0], in[1])}; };
  return run_graph(backend, std::move(record))[0];
}

Tensors kernel_attend(const Backend& backend, const Graph& graph, const EdgeScore& score, const Tensor& values,
                      const Tensor& factor, bool needs_weights) {
  auto record = record_of(graph, GraphStep::attend, {score.receiver, score.sender, score.to_scores, values, factor});
  record.negative_slope = score.negative_slope;
  record.weights = needs_weights;
  record.composed = [graph, negative_slope = score.negative_slope](const Tensors& in) {
    const auto scores = composed_scores(graph, {in[0], in[1], in[2], negative_slope});
    const auto weights = aligned(graph, *Catalogue<Alignment>::make("softmax"), {}, scores, {}).weights;
    return Tensors{composed_sum(graph, in[4].defined() ? weights * in[4] : weights, in[3]), weights};
  };
  return run_graph(backend, std::move(record));
}

Tensor selected(const Tensor& x, const Tensor& rows, const Tensor& back, const Tensor& empty) {
  const auto here = [&](const Tensor& y) { return y.defined() ? y.to(x.device()) : y; };
  return run(c10::make_intrusive<Selection>(here(rows), here(back), here(empty)), {x})[0];
}

EdgeWeights aligned(const Graph& graph, const Alignment& alignment, const Parameters& parameters, const Tensor& scores,
                    const Tensor& uniforms) {
  const DegreeBlocks& all = graph.blocks();
  const int64_t heads = scores.size(1);
  const auto slots = selected(scores, all.edge, all.slot);  // [S, H]
  const auto draws = uniforms.defined() ? uniforms.index_select(0, all.edge.to(uniforms.device())) : Tensor();
  const auto as_block = [&](const Tensor& x, const DegreeBlocks::Block& b) {
    return x.narrow(0, b.first, b.keep.numel())
        .view({1, b.keep.size(0), b.keep.size(1), heads})
        .permute({0, 3, 1, 2})
        .unsqueeze(-1);  // [1, H, n, w, 1]
  };
  Tensors weights, log_probability, nodes;
  for (const auto& b : all.blocks) {
    const auto e = as_block(slots, b);
    // As in attend(): a score of -inf counts as masked, and +inf becomes NaN if weights depend on each other.
    auto keep = b.keep.to(e.device()).view({1, 1, b.keep.size(0), b.keep.size(1), 1});
    if (alignment.offers().scores) keep = keep & (e.detach() != -INFINITY);
    const auto finite = alignment.offers().compares ? e.masked_fill(e.detach() == INFINITY, NAN) : e;
    Scored in;
    in.scores = finite.masked_fill(keep.logical_not(), 0.0);
    in.keep = keep;
    in.key_count = at::full({1, 1, 1, 1, 1}, b.keep.size(1), e.options());
    in.query_index = at::arange(b.keep.size(0), e.options()).view({-1, 1, 1});
    in.key_index = at::arange(b.keep.size(1), e.options()).view({-1, 1});
    in.draw.sample = draws.defined();
    if (draws.defined()) in.draw.given = as_block(draws, b);
    const Aligned a = alignment.align(parameters, in);
    const auto some = a.weights.masked_fill(keep.logical_not(), 0.0);
    weights.push_back(some.squeeze(-1).squeeze(0).permute({1, 2, 0}).reshape({-1, heads}));  // [n w, H]
    if (!a.log_probability.defined()) continue;
    const auto no_key = keep.any(kKeyAxis).logical_not();
    log_probability.push_back(a.log_probability.masked_fill(no_key, 0.0).squeeze(-1).squeeze(0).transpose(0, 1));
    nodes.push_back(b.nodes.to(e.device()));
  }
  if (weights.empty()) return {at::zeros_like(scores), Tensor()};
  EdgeWeights result{selected(at::cat(weights), all.slot, all.edge, all.empty), Tensor()};
  if (!nodes.empty())
    result.log_probability =
        at::zeros({graph.nodes(), heads}, scores.options()).index_copy(0, at::cat(nodes), at::cat(log_probability));
  return result;
}

}  // namespace graph_steps
}  // namespace heed
