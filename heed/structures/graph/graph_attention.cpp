// Graph attention as a structure: the layer of gat.h over graphs in a batch.
//
// The features are nodes; every batch row has the same edges. Edges at a node that is not real are left out, so such a
// node attends nothing, is attended by none, and gives 0. To the layer a batch is one graph of B * L nodes. The step
// "attend" has weights [edges that were kept, heads], and also["edges"] says which: [2, edges], nodes counted through
// the batch, self loops behind.

#include "heed/structures/graph/gat.h"
#include "heed/structures/structure.h"

namespace heed {
namespace {

class GraphStructure final : public Structure {
 public:
  GraphStructure(const Options& words, const StructureOptions& given) : Structure(given, "softmax") {
    const int64_t heads = words.integer("heads", given.heads);
    check(heads >= 1 && width_of(0) % heads == 0, "graph_attention: a width of ", width_of(0), " does not split into ",
          heads, " heads; expected a multiple");
    loops_ = words.flag("self_loops", true);
    layer_ = register_module(
        "layer", GraphAttention(GraphAttentionOptions{
                     .in = width_of(0),
                     .out = width_of(0) / heads,
                     .heads = heads,
                     .version = words.choice("version", {"v1", "v2"}) == "v1" ? GatVersion::v1 : GatVersion::v2,
                     .alignment = mechanism().parts().align.words(),
                     .self_loops = false,  // only real nodes get one, here
                     .bias = false,
                     .dropout = given.dropout}));
  }

  Takes takes() const override { return {.features = {"nodes"}, .edges = true}; }
  int64_t width() const override { return width_of(0); }

 private:
  /// The edges of all batch rows, between real nodes: [2, n].
  Tensor edges_of(const Given& in) const {
    const Features& nodes = in.features[0];
    const int64_t B = nodes.batch(), L = nodes.length();
    check(in.edges.dim() == 2 && in.edges.size(0) == 2 && in.edges.scalar_type() == at::kLong,
          "graph_attention: edges is ", shape_of(in.edges), ", expected int64 [2, E]");
    auto edges = in.edges.to(at::kCPU);
    check(edges.numel() == 0 || (edges.min().item<int64_t>() >= 0 && edges.max().item<int64_t>() < L),
          "graph_attention: an edge leads to node ", edges.numel() == 0 ? 0 : edges.max().item<int64_t>(), " of ", L,
          "; expected numbers from 0 to ", L - 1);
    if (loops_) {
      const auto other = edges.index_select(1, (edges[0] != edges[1]).nonzero().squeeze(1));
      edges = at::cat({other, at::arange(L, edges.options()).expand({2, L})}, 1);
    }
    const auto rows = at::arange(B, edges.options()).view({1, B, 1}) * L;
    const auto all = (edges.unsqueeze(1) + rows).flatten(1);  // [2, B * E]
    if (!nodes.keep.defined()) return all;
    const auto real = nodes.keep.flatten().to(at::kCPU).index_select(0, all.flatten()).view({2, -1}).all(0);
    return all.index_select(1, real.nonzero().squeeze(1));
  }

  Arranged arrange(const Given& in) override {
    const Features& nodes = in.features[0];
    const Graph graph(edges_of(in), nodes.batch() * nodes.length());
    const auto found =
        layer_->forward(nodes.rows.flatten(0, 1), graph,
                        {.noise = in.call.noise, .weights = in.call.want.weights, .path = path_of(in.call)});
    Arranged out;
    Attended attended;
    attended.weights = found.weights;  // [E, H]
    attended.log_probability = found.log_probability;
    out.context = found.context.view({nodes.batch(), nodes.length(), width()});
    attended.context = out.context;
    out.add("attend", attended);
    out.keep = nodes.keep;
    out.also["edges"] = graph.edges();
    return out;
  }

  static Path path_of(const Call& call) { return call.path == Path::stored ? Path::composed : call.path; }

  bool loops_;
  GraphAttention layer_{nullptr};
};

const Structure::Parts::Entry graph_attention_entry{
    "graph_attention",
    make_structure<GraphStructure>,
    {.formula = "e_ij = LeakyReLU(a . [W x_i; W x_j]), or a . LeakyReLU(L x_i + R x_j); align over the edges into i",
     .paper = "Velickovic et al., 2018; v2: Brody et al., 2022",
     .cost = "E D + N D^2, O(E) memory",
     .choose = "who may attend whom is a graph: citations, molecules, users and items",
     .axis = "beyond",
     .variants = {"graph_attention(v2)", "graph_attention(heads=2, self_loops=false)"}}};

}  // namespace
}  // namespace heed
