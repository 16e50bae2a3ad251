// Graph attention as a structure: the layer of gat.h over graphs in a batch.
//
// The features are nodes; every batch element has the same edges. Edges at a padded node are left out: such a node
// attends to nothing, is attended to by none, and its context is 0. For the layer a batch is one graph of B * L nodes.
// The step "attend" has weights [kept edges, heads]; also["edges"] [2, kept edges] lists the edges, with nodes numbered
// through the batch and self loops last. A call may set noise, path and the request for weights; the rest is refused.
//
// The graph is sorted again when edges or keep differ from those of the last call; the comparison is one pass over
// them. For a graph that never changes, GraphAttention with a Graph built once is faster.

#include <mutex>

#include "heed/structures/graph/gat.h"
#include "heed/structures/structure.h"

namespace heed {
namespace {

/// The graph of a whole batch, and the inputs it was built from.
struct BatchGraph {
  Tensor edges, keep;  // as given, on the CPU; copies
  int64_t rows, nodes;
  Graph graph;
  Tensor draws_by;  // int64 [2, n]: batch element, index of the edge; the self loop of node i has the index E + i
};

bool equal_or_none(const Tensor& x, const Tensor& y) {
  return x.defined() == y.defined() && (!x.defined() || x.equal(y));
}

std::string wants_besides_weights(const Outputs& outputs) {
  std::vector<std::string> names;
  const auto add = [&](bool wanted, const char* name) {
    if (wanted) names.emplace_back(name);
  };
  add(!outputs.rows.empty(), "rows");
  add(!outputs.heads.empty(), "heads");
  add(outputs.lse, "lse");
  add(outputs.entropy, "entropy");
  add(outputs.column_mass, "column_mass");
  add(outputs.top != 0, "top");
  add(outputs.links.defined(), "links");
  return joined(names);
}

/// Throws Error for settings without a meaning here: the layer computes its own scores, and the other outputs need a
/// dense row of keys.
void check_graph_call(const Call& call) {
  check(call.scale == 1, "graph_attention: scale is ", call.scale, ", expected 1: the layer has scores of its own");
  check(call.soft_cap == 0, "graph_attention: soft_cap is ", call.soft_cap,
        ", expected 0: the layer has scores of its own");
  const auto others = wants_besides_weights(call.outputs);
  check(others.empty(), "graph_attention: the call requests ", others, ", expected weights alone, one for each edge");
}

class GraphStructure final : public Structure {
 public:
  GraphStructure(const Options& spec, const StructureOptions& given) : Structure(given, "softmax") {
    const int64_t heads = spec.integer("num_heads", given.num_heads);
    check(heads >= 1 && width_of(0) % heads == 0, "graph_attention: a width of ", width_of(0), " does not split into ",
          heads, " heads; expected a multiple");
    loops_ = spec.flag("self_loops", true);
    layer_ = register_module(
        "layer", GraphAttention(GraphAttentionOptions{
                     .in_dim = width_of(0),
                     .out_dim = width_of(0) / heads,
                     .num_heads = heads,
                     .version = spec.choice("version", {"v1", "v2"}) == "v1" ? GatVersion::v1 : GatVersion::v2,
                     .alignment = mechanism().parts().align.to_string(),
                     .self_loops = false,  // added here, for real nodes only
                     .bias = false,
                     .dropout = given.dropout}));
  }

  StructureSignature takes() const override { return {.features = {"nodes"}, .edges = true}; }
  int64_t width() const override { return width_of(0); }

 private:
  /// The edges of one batch element, int64 [2, E] on the CPU.
  static Tensor edges_of(const StructureInput& in) {
    const int64_t L = in.features[0].length();
    check(in.edges.dim() == 2 && in.edges.size(0) == 2 && in.edges.scalar_type() == at::kLong,
          "graph_attention: edges is ", shape_of(in.edges), " ", in.edges.scalar_type(), ", expected [2, E] Long");
    const auto edges = in.edges.detach().to(at::kCPU);
    const auto wrong = edges.lt(0).logical_or(edges.ge(L)).any(0).nonzero();
    if (wrong.numel() == 0) return edges;
    const int64_t e = wrong[0].item<int64_t>();
    fail("graph_attention: edge ", e, " is ", edges[0][e].item<int64_t>(), " -> ", edges[1][e].item<int64_t>(),
         ", expected nodes from 0 to ", L - 1);
  }

  /// The edges between real nodes of all batch elements.
  BatchGraph batch_graph(const Tensor& given, const Tensor& keep, int64_t B, int64_t L) const {
    auto edges = given;
    auto numbers = at::arange(given.size(1), at::kLong);
    if (loops_) {
      const auto other = (edges[0] != edges[1]).nonzero().squeeze(1);
      const auto nodes = at::arange(L, at::kLong);
      edges = at::cat({edges.index_select(1, other), nodes.expand({2, L})}, 1);
      numbers = at::cat({other, nodes + given.size(1)});
    }
    const auto rows = at::arange(B, at::kLong).unsqueeze(1);                       // [B, 1]
    auto all = (edges.unsqueeze(1) + rows * L).flatten(1);                         // [2, B * E]
    auto draws_by = at::stack(at::broadcast_tensors({rows, numbers})).flatten(1);  // [2, B * E]
    if (keep.defined()) {
      const auto real = keep.flatten().index_select(0, all.flatten()).view({2, -1}).all(0).nonzero().squeeze(1);
      all = all.index_select(1, real);
      draws_by = draws_by.index_select(1, real);
    }
    return {given.clone(), keep.defined() ? keep.clone() : Tensor(), B, L, Graph(all, B * L), draws_by};
  }

  /// The graph of this call; that of the last call if the inputs are equal. Thread-safe.
  std::shared_ptr<const BatchGraph> graph_of(const StructureInput& in) {
    const Features& nodes = in.features[0];
    const auto edges = edges_of(in), keep = nodes.keep.defined() ? nodes.keep.to(at::kCPU) : nodes.keep;
    const int64_t B = nodes.batch(), L = nodes.length();
    std::shared_ptr<const BatchGraph> last;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      last = last_;
    }
    if (last && last->rows == B && last->nodes == L && equal_or_none(last->edges, edges) &&
        equal_or_none(last->keep, keep))
      return last;
    auto made = std::make_shared<const BatchGraph>(batch_graph(edges, keep, B, L));
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = made;
    return made;
  }

  StructureOutput arrange(const StructureInput& in) override {
    check_graph_call(in.call);
    const int64_t B = in.features[0].batch(), L = in.features[0].length();
    const auto batch = graph_of(in);
    const auto found = layer_->forward(in.features[0].rows.flatten(0, 1), batch->graph,
                                       {.noise = in.call.noise,
                                        .draws_by = batch->draws_by,
                                        .weights = in.call.outputs.weights,
                                        .path = path_of(in.call)});
    Attended attended;
    attended.context = found.context.view({B, L, width()});
    attended.weights = found.weights;  // [E, H]
    if (found.log_probability.defined())
      attended.log_probability =
          found.log_probability.view({B, L, layer_->options().num_heads}).transpose(1, 2);  // [B, H, L]
    attended.plan.path = found.path;
    attended.plan.kernel = found.path == Path::fused ? "graph x " + layer_->options().alignment : "";
    attended.plan.sampled = found.sampled;
    attended.plan.seed = found.seed;
    StructureOutput out;
    out.context = out.add("attend", attended);
    out.keep = in.features[0].keep;
    out.also["edges"] = batch->graph.edges().clone();  // a copy: the graph may be reused by later calls
    return out;
  }

  static Path path_of(const Call& call) { return call.path == Path::stored ? Path::composed : call.path; }

  bool loops_;
  GraphAttention layer_{nullptr};
  std::mutex mutex_;
  std::shared_ptr<const BatchGraph> last_;  // guarded by mutex_
};

const Structure::Parts::Entry graph_attention_entry{
    "graph_attention",
    make_structure<GraphStructure>,
    {.formula = "e_ij = LeakyReLU(a . [W x_i; W x_j]), or a . LeakyReLU(L x_i + R x_j); align over the edges into i",
     .paper = "Velickovic et al., 2018; v2: Brody et al., 2022",
     .cost = "E D + N D^2, O(E) memory",
     .choose = "who may attend whom is a graph: citations, molecules, users and items",
     .axis = "beyond",
     .variants = {"graph_attention(v2)", "graph_attention(num_heads=2, self_loops=false)"},
     .synonyms = {"gat", "gatv2"},
     .order = 6}};

}  // namespace
}  // namespace heed
