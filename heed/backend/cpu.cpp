// The CPU backend: the kernels of heed/kernels/cpu.

#include "heed/backend/cpu.h"

#include <ATen/ATen.h>

#include "heed/backend/backend.h"
#include "heed/backend/cpu_channels.h"
#include "heed/backend/cpu_graph.h"
#include "heed/backend/cpu_pairs.h"
#include "heed/kernels/cpu/attend.h"

namespace heed::backend {
namespace {

namespace cpu = kernels::cpu;

class Cpu final : public Backend {
 public:
  explicit Cpu(const Options&) {}

  Path path() const override { return Path::fused; }
  bool runs_on(const at::Device& device) const override { return device.is_cpu(); }

  std::string why_not(const CallRecord& r) const override {
    if (r.sizes().key_dim == 0 || r.sizes().value_dim == 0) return "keys or values have no features";
    if (!r.score.missing.empty()) return "score/" + r.spec->score.name + ": " + r.score.missing;
    if (!r.align.missing.empty()) return "alignment/" + r.spec->align.name + ": " + r.align.missing;
    const at::Device device = r.in[kValues].device();
    if (!device.is_cpu()) return "the kernels run on the CPU, the query is on " + device.str();
    if (r.in[kUniforms].defined()) return "the kernels draw their own random numbers, and the call has noise.uniforms";
    if (std::string unread = why_not_read(r, {kKeep, kKeyCount, kFull, kPerKey, kRelative, kAlibi}); !unread.empty())
      return unread;
    const Outputs& outputs = r.call.outputs;
    const bool more =
        outputs.weights || outputs.entropy || outputs.column_mass || outputs.top > 0 || outputs.links.defined();
    if (!r.single() && more) return "multi-dimensional kernels return context and lse, and other outputs are requested";
    return "";
  }

  int priority(const CallRecord& r) const override { return r.type() == at::kFloat ? 100 : -1; }
  std::string on_request(const CallRecord&) const override {
    return "double runs on the portable kernels; only on request";
  }

  void describe(const CallRecord& r, Plan& plan) const override {
    plan.kernel = r.type() == at::kDouble ? "portable" : cpu::instruction_set();
    plan.kernel += ": ";
    plan.kernel += r.single() ? kernels::name(r.score.kind) : to_string(r.sizes().dimensionality).c_str();
    plan.kernel += " x ";
    plan.kernel += kernels::name(r.align.kind);
    plan.block_rows = r.batch;
    plan.block_queries = r.queries;
    constexpr int64_t kRowBytes = sizeof(kernels::RowStats<float>);  // saved for backward
    const Tensor& keys = r.in[kKeys];
    plan.bytes = r.batch * r.heads * r.queries * r.width() * kRowBytes + keys.numel() * keys.element_size();
  }

  Tensor pack(const CallRecord& r) const override {
    if (!r.single() || !cpu::traits(r.score.kind).reads_exp_keys) return {};
    return at::exp(2 * r.in[kKeys].detach());
  }

  ForwardResult forward(const CallRecord& r, bool learns) const override {
    return r.single() ? cpu_pairs::forward(r, learns) : cpu_channels::forward(r, learns);
  }
  Tensors backward(const CallRecord& r, const SavedTensors& saved, const Tensors& grads,
                   const std::vector<bool>& wanted) const override {
    return r.single() ? cpu_pairs::backward(r, saved, grads, wanted) : cpu_channels::backward(r, saved, grads, wanted);
  }
  std::string why_not_graph(const GraphRecord& r) const override {
    return r.in[0].device().is_cpu() ? "" : "the kernels run on the CPU, the values are on " + r.in[0].device().str();
  }
  Tensors forward_graph(const GraphRecord& r, Tensors* saved) const override { return cpu_graph::forward(r, saved); }
  Tensors backward_graph(const GraphRecord& r, const Tensors& saved, const Tensors& grads,
                         const std::vector<bool>& wanted) const override {
    return cpu_graph::backward(r, saved, grads, wanted);
  }
};

const Catalogue<Backend>::Entry cpu_entry{
    "cpu", make_part<Backend, Cpu>, {.choose = "float tensors on the CPU: every score and alignment with a kernel"}};

}  // namespace

std::string cpu_instruction_set() {
  return cpu::instruction_set();
}
std::vector<std::string> cpu_instruction_sets() {
  return cpu::instruction_sets();
}

}  // namespace heed::backend
