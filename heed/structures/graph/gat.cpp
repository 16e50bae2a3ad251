#include "heed/structures/graph/gat.h"

#include <ostream>

#include "heed/attention/align.h"
#include "heed/attention/mechanism.h"
#include "heed/attention/noise.h"

namespace heed {
namespace {

/// Projects x [N, in] with weight [H, out, in] -> [N, H, out].
Tensor by_heads(const Tensor& x, const Tensor& weight) {
  return at::linear(x, weight.flatten(0, 1)).view({x.size(0), weight.size(0), weight.size(1)});
}

std::vector<ParameterSpec> align_parameters(const GraphAttentionOptions& o) {
  return Catalogue<Alignment>::make(o.alignment)->parameters({o.out_dim, o.out_dim, o.out_dim, o.out_dim});
}

/// The parameters of the alignment, one set for each head.
struct AlignTensorsImpl : torch::nn::Cloneable<AlignTensorsImpl> {
  explicit AlignTensorsImpl(GraphAttentionOptions given)
      : torch::nn::Cloneable<AlignTensorsImpl>("heed::AlignTensors"), options(std::move(given)) {
    reset();
  }
  void reset() override {
    for (const auto& spec : align_parameters(options))
      register_parameter(spec.name, initialized(spec, options.num_heads));
  }
  GraphAttentionOptions options;
};

}  // namespace

GraphAttentionImpl::GraphAttentionImpl(GraphAttentionOptions options) : options_(std::move(options)) {
  const auto& o = options_;
  check(o.in_dim > 0 && o.out_dim > 0 && o.num_heads > 0, "gat: in, out and heads are ", o.in_dim, ", ", o.out_dim,
        ", ", o.num_heads, "; expected more than 0");
  check(o.dropout >= 0 && o.dropout < 1, "gat: dropout is ", o.dropout, ", expected 0 <= dropout < 1");
  check_graph_alignment(o.alignment);
  reset();
}

void GraphAttentionImpl::reset() {
  const auto& o = options_;
  const auto matrix = [&](const char* name) {
    register_parameter(name, initialized({name, {o.out_dim, o.in_dim}}, o.num_heads));  // [H, out, in]
  };
  const auto vector = [&](const char* name, Initial initial = {}) {
    register_parameter(name, initialized({name, {o.out_dim}, initial}, o.num_heads));  // [H, out]
  };
  matrix("values");
  if (o.version == GatVersion::v1) {
    vector("self");
    vector("neighbor");
    for (const char* name : {"self_bias", "neighbor_bias"})
      if (o.score_bias) register_parameter(name, at::zeros({o.num_heads}));
  } else {
    matrix("receiver");
    vector("to_scores");
    if (o.score_bias) vector("hidden_bias", kZeros);
  }
  if (o.bias) register_parameter("bias", at::zeros({width()}));
  if (!align_parameters(o).empty()) register_module("align", std::make_shared<AlignTensorsImpl>(o));
}

void GraphAttentionImpl::pretty_print(std::ostream& stream) const {
  const auto& o = options_;
  stream << "heed::GraphAttention(" << (o.version == GatVersion::v1 ? "gat" : "gatv2") << " + " << o.alignment
         << "; in " << o.in_dim << ", out " << o.out_dim << ", heads " << o.num_heads
         << (o.join == JoinHeads::concat ? " side by side" : " in the mean") << ", negative slope " << o.negative_slope
         << (o.self_loops ? ", self loops" : "") << (o.score_bias ? ", score bias" : "") << (o.bias ? ", bias" : "")
         << (o.activation == GatActivation::elu ? ", elu" : "");
  if (o.dropout > 0) stream << ", dropout " << o.dropout;
  stream << ")";
}

int64_t GraphAttentionImpl::width() const {
  return options_.join == JoinHeads::concat ? options_.num_heads * options_.out_dim : options_.out_dim;
}

EdgeScore GraphAttentionImpl::score_of(const Tensor& nodes, const Tensor& values) const {
  const auto& p = parameters_;
  const auto& o = options_;
  if (o.version == GatVersion::v1) {
    // a . (W x) = (W^T a) . x: one product with [H, in], instead of two passes over the values.
    const auto scored = [&](const char* by, const char* bias) {
      const auto scores = at::linear(nodes, at::matmul(p[by].unsqueeze(1), p["values"]).squeeze(1));  // [N, H]
      return o.score_bias ? scores + p[bias] : scores;
    };
    return {scored("self", "self_bias"), scored("neighbor", "neighbor_bias"), {}, o.negative_slope};
  }
  auto receiver = by_heads(nodes, p["receiver"]);
  if (o.score_bias) receiver = receiver + p["hidden_bias"];
  return {receiver, values, p["to_scores"], o.negative_slope};
}

/// Concatenates or averages heads [N, H, out], adds the bias and applies the activation.
Tensor GraphAttentionImpl::joined(const Tensor& heads) const {
  auto out = options_.join == JoinHeads::concat ? heads.flatten(1) : heads.mean(1);
  if (options_.bias) out = out + parameters_["bias"];
  return options_.activation == GatActivation::elu ? at::elu(out) : out;
}

GraphAttended GraphAttentionImpl::forward(const Tensor& nodes, const Graph& graph, const GraphCall& given) {
  const auto& o = options_;
  check(nodes.defined() && nodes.dim() == 2 && nodes.size(0) == graph.nodes() && nodes.size(1) == o.in_dim,
        "gat: nodes is ", shape_of(nodes), ", expected [", graph.nodes(), ", ", o.in_dim, "]");
  const Tensor& own_type = parameters_["values"];
  check(nodes.scalar_type() == own_type.scalar_type() && nodes.device() == own_type.device(), "gat: nodes is ",
        nodes.scalar_type(), " on ", nodes.device(), ", the parameters are ", own_type.scalar_type(), " on ",
        own_type.device(), "; expected one type on one device");
  const Graph own = o.self_loops ? graph.with_self_loops() : graph;
  GraphCall call = given;
  call.alignment = o.alignment;
  call.parameters = {};
  for (const auto& child : named_children())
    for (const auto& item : child.value()->named_parameters()) call.parameters.set(item.key(), item.value());
  if (is_training()) {
    call.noise.sample = true;
    if (call.noise.dropout == 0) call.noise.dropout = o.dropout;
    follow_scope(call.noise);
  }
  // Zeroed before the projections: NaN at a node without edges must not reach their gradients.
  const auto alone = own.connected().logical_not();
  const auto clean = alone.any().item<bool>() ? nodes.masked_fill(alone.to(nodes.device()).unsqueeze(1), 0.0) : nodes;
  const auto values = by_heads(clean, parameters_["values"]);  // [N, H, out]
  GraphAttended result = graph_attend(own, score_of(clean, values), values, call);
  result.context = joined(result.context);
  return result;
}

}  // namespace heed
