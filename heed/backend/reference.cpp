// The reference path: the definition in double, without gradients.

#include "heed/backend/reference.h"

#include "heed/backend/backend.h"
#include "heed/torch_support/parallel.h"

namespace heed::backend {
namespace {

using kernels::reference::Array;

template <typename Number>
Array<Number> copied(const at::Tensor& tensor, at::ScalarType type) {
  if (!tensor.defined()) return {};
  const auto here = tensor.detach().to(at::kCPU, type).contiguous();
  const auto* first = static_cast<const Number*>(here.data_ptr());
  return {here.sizes().vec(), std::vector<Number>(first, first + here.numel())};
}

}  // namespace

Array<double> doubles(const at::Tensor& tensor) {
  return copied<double>(tensor, at::kDouble);
}
Array<int64_t> integers(const at::Tensor& tensor) {
  return copied<int64_t>(tensor, at::kLong);
}
Array<uint8_t> flags(const at::Tensor& tensor) {
  return copied<uint8_t>(tensor, at::kByte);
}

at::Tensor to_tensor(const Array<double>& array, const at::TensorOptions& options) {
  if (array.empty()) return {};
  return at::tensor(array.data, at::kDouble).view(array.shape).to(options);
}

namespace reference = kernels::reference;

reference::Problem<double> problem_of(const CallRecord& r) {
  const Call& call = r.call;
  reference::Problem<double> problem;
  problem.mechanism = *r.spec;
  for (const auto& [name, tensor] : r.parameters()) problem.parameters[name] = doubles(tensor);
  problem.query = doubles(r.in[kQuery]);
  problem.keys = doubles(r.in[kKeys]);
  problem.values = doubles(r.in[kValues]);
  problem.keep = flags(r.in[kKeep]);
  problem.key_count = integers(r.in[kKeyCount]);
  problem.causal = static_cast<reference::Causal>(call.mask.causal);
  problem.left = call.mask.left;
  problem.right = call.mask.right;
  problem.first_query = call.mask.first_query;
  problem.bias = doubles(r.in[kFull]);
  problem.per_key = doubles(r.in[kPerKey]);
  problem.relative = doubles(r.in[kRelative]);
  problem.alibi = doubles(r.in[kAlibi]);
  problem.scale = call.scale;
  problem.soft_cap = call.soft_cap;
  problem.sample = call.noise.sample;
  problem.dropout = call.noise.dropout;
  problem.seed = call.noise.seed;
  problem.stream = call.noise.stream;
  problem.first_row = call.noise.first_row;
  problem.uniforms = doubles(r.in[kUniforms]);
  return problem;
}

namespace {

class Reference final : public Backend {
 public:
  explicit Reference(const Options&) {}

  Path path() const override { return Path::reference; }
  Reads reads() const override { return Reads::given; }

  std::string why_not(const CallRecord& r) const override {
    const at::Device device = r.in[kValues].device();
    if (!device.is_cpu()) return "runs on the CPU, the query is on " + device.str();
    const std::string unread = why_not_read(r, {kKeep, kKeyCount, kFull, kPerKey, kRelative, kAlibi, kUniforms});
    if (!unread.empty()) return "does not run: " + unread;
    const std::string missing = reference::missing(*r.spec);
    if (!missing.empty()) return "has " + missing;
    if (r.call.outputs.links.defined() && r.offers.log_probability && !r.offers.policy)
      return "has no log-weights of the distribution that " + r.spec->align.name + " samples from; use another path";
    return "";
  }
  int priority(const CallRecord&) const override { return -1; }
  std::string on_request(const CallRecord&) const override { return "slow, without gradients; only on request"; }
  void describe(const CallRecord& r, Plan& plan) const override {
    plan.block_rows = r.batch;
    plan.block_queries = r.queries;
    plan.bytes = r.batch * r.heads * r.queries * r.keys * r.width() * 8 * 2;
  }

  ForwardResult forward(const CallRecord& r, bool) const override {
    const auto answer = reference::attend<double>(problem_of(r), on_torch_threads);
    const auto tensor = [&](const reference::Array<double>& array) {
      return to_tensor(array, r.in[kValues].options());
    };
    const auto weights = tensor(answer.weights);
    const auto some = [&](const Tensor& x, int64_t axis, const std::vector<int64_t>& which) {
      return which.empty() ? x : x.index_select(axis, at::tensor(which, at::kLong));
    };
    const Outputs& outputs = r.call.outputs;
    ForwardResult result;
    Tensors& out = result.outputs;
    out[kContext] = tensor(answer.context);
    if (outputs.weights) out[kWeights] = some(some(weights, 2, outputs.rows), 1, outputs.heads);
    if (outputs.lse) out[kLse] = tensor(answer.lse);
    if (outputs.entropy) out[kEntropy] = tensor(answer.entropy);
    if (outputs.column_mass) out[kColumnMass] = weights.sum(2);
    if (outputs.top > 0) std::tie(out[kTopWeights], out[kTopKeys]) = top_of(weights, outputs.top);
    if (outputs.links.defined()) {
      const auto link = [&](int64_t i) { return outputs.links.select(1, i); };
      out[kLinks] = at::log(weights.index({link(0), link(1), link(2), link(3)}));
    }
    out[kLogProbability] = tensor(answer.log_probability);
    out[kSelected] = tensor(answer.selected);
    if (out[kSelected].defined()) {
      const auto reachable = reach(r.mask(), {0, 0, r.queries, r.keys}, at::kCPU).keys.squeeze(-1);
      out[kSelectedShare] = out[kSelected].sum(2) / reachable.expand_as(out[kSelected]).sum(2).clamp_min(1);
    }
    return result;
  }
  Tensors backward(const CallRecord&, const SavedTensors&, const Tensors&, const std::vector<bool>&) const override {
    fail("backend/reference: the definition has no gradients; use another path");
  }
  bool recorded() const override { return true; }  // its outputs are constants
};

const Catalogue<Backend>::Entry reference_entry{
    "reference", make_part<Backend, Reference>, {.choose = "to check another path: the definition, in double"}};

}  // namespace
}  // namespace heed::backend
