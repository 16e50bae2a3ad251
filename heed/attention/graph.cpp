#include "heed/attention/graph.h"

#include <limits>
#include <mutex>

#include "heed/attention/graph_steps.h"
#include "heed/attention/half.h"
#include "heed/base/edges.h"
#include "heed/torch_support/autocast.h"

namespace heed {

using namespace backend;

struct Graph::EdgeOrder {
  Tensor edges, connected;
  std::shared_ptr<const Edges> sorted;
  mutable std::once_flag blocked, looped;
  mutable DegreeBlocks blocks;
  mutable std::shared_ptr<const EdgeOrder> loops;  // null if every node has a self loop
};

Graph::Graph(const Tensor& edges, int64_t nodes) {
  check(edges.defined() && edges.dim() == 2 && edges.size(0) == 2 && edges.scalar_type() == at::kLong,
        "graph: edges is ", shape_of(edges), edges.defined() ? std::string(" ") + toString(edges.scalar_type()) : "",
        ", expected [2, E] Long: senders and receivers");
  auto held = std::make_shared<EdgeOrder>();
  held->edges = edges.detach().to(at::kCPU).contiguous().clone();
  const auto* from = held->edges.data_ptr<int64_t>();
  const int64_t E = edges.size(1);
  held->sorted = std::make_shared<const Edges>(sort_edges(from, from + E, E, nodes));
  held->connected = at::zeros({nodes}, at::kBool).index_fill_(0, held->edges.flatten(), true);
  held_ = std::move(held);
}

Graph Graph::with_self_loops() const {
  std::call_once(held_->looped, [&] {
    const auto from = edges()[0];
    const auto has = at::zeros({nodes()}, at::kBool).index_fill_(0, from.masked_select(from == edges()[1]), true);
    const auto missing = has.logical_not().nonzero().squeeze(1);
    if (missing.numel() > 0) held_->loops = Graph(at::cat({edges(), at::stack({missing, missing})}, 1), nodes()).held_;
  });
  Graph graph = *this;
  if (held_->loops) graph.held_ = held_->loops;
  return graph;
}

int64_t Graph::nodes() const {
  return held_->sorted->nodes;
}
int64_t Graph::size() const {
  return held_->sorted->size();
}
const Tensor& Graph::edges() const {
  return held_->edges;
}
const Tensor& Graph::connected() const {
  return held_->connected;
}
const std::shared_ptr<const Edges>& Graph::sorted() const {
  return held_->sorted;
}
Tensor Graph::order() const {
  const auto order = at::empty({size()}, at::kLong);
  std::copy(sorted()->given.begin(), sorted()->given.end(), order.data_ptr<int64_t>());
  return order;
}
Tensor Graph::position() const {
  const auto position = at::empty({size()}, at::kLong);
  for (int64_t e = 0; e < size(); ++e) position.data_ptr<int64_t>()[sorted()->given[static_cast<size_t>(e)]] = e;
  return position;
}
const DegreeBlocks& Graph::blocks() const {
  std::call_once(held_->blocked, [&] { held_->blocks = degree_blocks(*held_->sorted); });
  return held_->blocks;
}

namespace {

using namespace graph_steps;

struct Asked {
  std::string name;
  std::shared_ptr<const Alignment> part;
};

Asked alignment_of(const std::string& spec) {
  const auto parsed = parse_part(spec, Alignment::kKind);
  const auto part = Catalogue<Alignment>::make(parsed);
  check(!part->positional(), "graph: got alignment ", spec,
        ", which depends on positions, expected one that depends on scores alone");
  check(!part->looks_at_keys() && !part->offers().policy, "graph: got alignment ", spec,
        ", which has a policy over keys, expected one that depends on scores alone");
  return {parsed.name, part};
}

void check_inputs(const Graph& graph, const EdgeScore& s, const Tensor& values) {
  check(values.defined() && values.dim() == 3 && values.size(0) == graph.nodes(), "graph: values is ", shape_of(values),
        ", expected [N, H, D] with N = ", graph.nodes());
  check(values.scalar_type() == at::kFloat || values.scalar_type() == at::kDouble, "graph: values is ",
        values.scalar_type(), ", expected float, double or a half type");
  const int64_t axes = s.to_scores.defined() ? 3 : 2;
  for (const auto& x : {s.receiver, s.sender})
    check(x.defined() && x.dim() == axes && x.size(0) == graph.nodes() && x.size(1) == values.size(1) &&
              x.sizes() == s.receiver.sizes(),
          "graph: receiver is ", shape_of(s.receiver), ", sender ", shape_of(s.sender), ", expected [N, H",
          axes == 3 ? ", D]" : "]", " with N = ", graph.nodes(), ", H = ", values.size(1));
  check(axes == 2 || (s.to_scores.dim() == 2 && s.to_scores.size(0) == values.size(1) &&
                      s.to_scores.size(1) == s.receiver.size(2)),
        "graph: to_scores is ", shape_of(s.to_scores), ", expected [H, D], with H and D of the receiver");
  for (const auto& x : {s.receiver, s.sender, s.to_scores})
    check(!x.defined() || (x.scalar_type() == values.scalar_type() && x.device() == values.device()),
          "graph: a part of the score is ", x.defined() ? x.scalar_type() : at::kFloat, ", the values are ",
          values.scalar_type(), "; expected one type on one device");
}

/// The backend of the fused path, or null for the composed one.
const Backend* backend_of(Path asked, const Tensor& values) {
  check(asked == Path::fastest || asked == Path::fused || asked == Path::composed, "graph: path is ", to_string(asked),
        ", expected fastest, fused or composed");
  if (asked == Path::composed) return nullptr;
  GraphRecord record;
  record.in = {values};
  std::string missing;
  for (const auto& backend : backends()) {
    if (backend->path() != Path::fused) continue;
    missing = backend->why_not_graph(record);
    if (missing.empty()) return backend.get();
  }
  check(asked != Path::fused, "graph: got path fused, but ", missing, "; use Path::fastest or Path::composed");
  return nullptr;
}

uint64_t fresh_seed() {
  uint64_t seed = 0;
  while (seed == 0)
    seed = static_cast<uint64_t>(at::randint(std::numeric_limits<int64_t>::max(), {1}, at::kLong).item<int64_t>());
  return seed;
}

void check_draws_by(const Graph& graph, const Tensor& by) {
  if (!by.defined()) return;
  check(by.dim() == 2 && by.size(0) == 2 && by.size(1) == graph.size() && by.scalar_type() == at::kLong,
        "graph: draws_by is ", shape_of(by), " ", by.scalar_type(), ", expected [2, ", graph.size(),
        "] Long: a batch element and an index for each edge");
  const int64_t min = by.numel() == 0 ? 0 : by.min().item<int64_t>();
  check(min >= 0, "graph: draws_by has ", min, ", expected elements and indices of at least 0");
}

/// u in (0, 1), [E, H] for the sorted edges, indexed by GraphCall::draws_by and the head.
Tensor uniforms(const Graph& graph, const GraphCall& call, Purpose purpose, const Tensor& values) {
  const int64_t heads = values.size(1);
  int64_t rows = 1, numbers = graph.size();
  auto cell = graph.order();  // of [rows, numbers], by sorted edge
  if (call.draws_by.defined() && graph.size() > 0) {
    const auto by = call.draws_by.to(at::kCPU);
    rows = by[0].max().item<int64_t>() + 1;
    numbers = by[1].max().item<int64_t>() + 1;
    cell = (by[0] * numbers + by[1]).index_select(0, cell);
  }
  const Draws draws{call.noise.seed, call.noise.stream, call.noise.first_row};
  const auto u = draws.uniform(purpose, {rows, heads, 1, numbers}, at::TensorOptions().dtype(at::kFloat));
  return u.view({rows, heads, numbers})
      .transpose(1, 2)
      .reshape({rows * numbers, heads})
      .index_select(0, cell)
      .to(values.device(), values.scalar_type());
}

}  // namespace

void check_graph_alignment(const std::string& spec) {
  alignment_of(spec);
}

GraphAttended graph_attend(const Graph& graph, const EdgeScore& given_score, const Tensor& given_values,
                           const GraphCall& given) {
  GraphCall call = given;
  EdgeScore score = given_score;
  for (Tensor* x : {&score.receiver, &score.sender, &score.to_scores}) *x = full(*x);
  const Tensor values = full(given_values);
  const FullPrecision precision;
  if (is_half(values)) {
    for (const auto& x : {score.receiver, score.sender, score.to_scores})
      check(!x.defined() || x.scalar_type() == values.scalar_type(), "graph: a part of the score is ",
            x.defined() ? x.scalar_type() : at::kFloat, ", the values are ", values.scalar_type(),
            "; expected one type on one device");
    for (Tensor* x : {&score.receiver, &score.sender, &score.to_scores}) *x = widened(*x);
    call.parameters = widened(call.parameters);
    GraphAttended result = graph_attend(graph, score, widened(values), call);
    result.context = result.context.to(values.scalar_type());
    return result;
  }
  const auto [name, alignment] = alignment_of(call.alignment);
  check_inputs(graph, score, values);
  const int64_t H = values.size(1), D = values.size(2);
  check_parameters("alignment/" + name, alignment->parameters({D, D, D, D}), call.parameters, H, values);
  check_draws_by(graph, call.draws_by);
  Noise& noise = call.noise;
  check(noise.dropout >= 0 && noise.dropout < 1, "graph: dropout is ", noise.dropout, ", expected 0 <= dropout < 1");
  check(!noise.uniforms.defined(), "graph: got noise.uniforms, expected noise.seed");
  const bool drawn = noise.sample && alignment->offers().draws;
  if (noise.seed == 0 && (drawn || noise.dropout > 0)) noise.seed = fresh_seed();

  Tensor factor;  // [E, H]
  if (noise.dropout > 0)
    factor = (uniforms(graph, call, kDropout, values) >= noise.dropout).to(values.scalar_type()) / (1 - noise.dropout);
  GraphAttended result;
  const Backend* backend = backend_of(call.path, values);
  const bool fused = backend != nullptr;
  result.path = fused ? Path::fused : Path::composed;
  result.sampled = drawn;
  result.seed = drawn || noise.dropout > 0 ? noise.seed : 0;
  Tensor weights;  // of the sorted edges
  if (name == "softmax" && fused) {
    const auto found = kernel_attend(*backend, graph, score, values, factor, call.weights);
    result.context = found[0];
    weights = found[1];
  } else {
    const auto scores = fused ? kernel_scores(*backend, graph, score) : composed_scores(graph, score);
    const auto found = aligned(graph, *alignment, call.parameters, scores,
                               drawn ? uniforms(graph, call, kAlignment, values) : Tensor());
    weights = found.weights;
    result.log_probability = found.log_probability;
    const auto passed = factor.defined() ? weights * factor : weights;
    result.context = fused ? kernel_sum(*backend, graph, passed, values) : composed_sum(graph, passed, values);
  }
  if (call.weights) result.weights = selected(weights, graph.position(), graph.order());
  return result;
}

}  // namespace heed
