// The CUDA backend: the kernels of heed/kernels/cuda, for float tensors on a GPU. Nothing here waits for the device, so
// calls can be captured in CUDA graphs.

#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "heed/backend/backend.h"
#include "heed/backend/kernel_tensors.h"
#include "heed/kernels/cuda/attend.h"
#include "heed/torch_support/noise_scope.h"

namespace heed::backend {
namespace {

namespace cuda = kernels::cuda;
using kernel_tensors::GradientBuffers;
using kernel_tensors::KernelTensors;
using kernel_tensors::RequestedBuffers;

/// Not null, and never read: says in an outline that there is a tensor.
template <typename T>
T* some() {
  alignas(16) static std::remove_const_t<T> there[4]{};
  return there;
}

/// The problem of a call whose tensors are not prepared yet: sizes, kinds, and which pointers will not be null.
kernels::Problem<float> outline(const CallRecord& r) {
  const auto rows = [](int64_t width) { return kernels::Rows<const float>{some<const float>(), width, width, width}; };
  const auto one = [](const Tensor& x) { return x.defined() ? some<const float>() : nullptr; };
  kernels::Problem<float> p;
  p.batch = r.batch;
  p.heads = r.heads;
  p.key_heads = r.in[kValues].size(1);
  p.queries = r.queries;
  p.keys = r.keys;
  p.width = r.score.kind == ScoreKind::additive ? r.sizes().hidden_dim : r.sizes().key_dim;
  p.value_width = r.in[kValues].size(-1);
  p.score = r.score.kind;
  p.activation = r.score.activation;
  p.query = p.key_rows = rows(p.width);
  p.values = rows(p.value_width);
  if (r.score.kind == ScoreKind::additive || r.score.kind == ScoreKind::hidden) p.to_scores = some<const float>();
  p.soft_cap = static_cast<float>(r.call.soft_cap);
  const Mask& mask = r.call.mask;
  p.mask.keep = kernel_tensors::grid_of<const uint8_t>(r.in[kKeep]);
  if (r.in[kKeyCount].defined() || r.max_keys < r.keys) p.mask.key_count = some<const int64_t>();
  p.mask.first_position = first_position(mask, r.whole());
  p.mask.causal = mask.causal != Causal::none;
  p.mask.left = mask.left;
  p.mask.right = mask.right;
  if (r.align.reach >= 0) p.mask.center = some<const int64_t>();
  p.bias.full = kernel_tensors::grid_of<const float>(r.in[kFull]);
  if (r.in[kPerKey].defined()) p.bias.per_key = kernel_tensors::grid_of<const float>(r.in[kPerKey].unsqueeze(2));
  p.bias.relative = one(r.in[kRelative]);
  p.bias.alibi = one(r.in[kAlibi]);
  p.align = r.align.kind;
  p.gauss = r.align.gauss;
  p.perturb = r.align.perturb;
  p.temperature = static_cast<float>(r.align.temperature);
  p.dropout = static_cast<float>(r.call.noise.dropout);
  p.context = some<float>();
  p.rows = some<kernels::RowStats<float>>();
  return p;
}

kernels::RequestedOutputs<float> outline_of_requested(const CallRecord& r) {
  const Outputs& outputs = r.call.outputs;
  const auto one = [](bool there) { return there ? some<float>() : nullptr; };
  kernels::RequestedOutputs<float> w;
  w.weights = one(outputs.weights);
  w.query_count = static_cast<int64_t>(outputs.rows.size());
  w.head_count = static_cast<int64_t>(outputs.heads.size());
  w.some_queries = outputs.rows.empty() ? nullptr : some<const int64_t>();
  w.some_heads = outputs.heads.empty() ? nullptr : some<const int64_t>();
  w.lse = one(outputs.lse);
  w.entropy = one(outputs.entropy);
  w.log_probability = one(r.offers.log_probability);
  w.column_mass = one(outputs.column_mass);
  w.top = outputs.top;
  w.top_weights = one(outputs.top > 0);
  w.top_keys = outputs.top > 0 ? some<int64_t>() : nullptr;
  w.link_log_weights = one(outputs.links.defined());
  w.links = outputs.links.defined() ? some<const int64_t>() : nullptr;
  w.link_count = outputs.links.defined() ? outputs.links.size(0) : 0;
  return w;
}

/// What a launch needs of torch, while it is in scope.
class Launch {
 public:
  explicit Launch(const Tensor& like) : guard_(like.device()), options_(like.options().dtype(at::kByte)) {}

  cuda::Stream stream() const { return c10::cuda::getCurrentCUDAStream(guard_.current_device().index()).stream(); }
  /// Memory of torch's allocator, which frees it in the order of the stream.
  void* workspace(size_t bytes) {
    if (bytes == 0) return nullptr;
    workspace_ = at::empty({static_cast<int64_t>(bytes)}, options_);
    return workspace_.data_ptr();
  }
  /// Errors of the launches so far; those of running kernels appear later, where someone waits for the device.
  static void check_error(const char* what, const CallRecord& r) {
    const cudaError_t error = cudaGetLastError();
    check(error == cudaSuccess, "backend/cuda: ", what, " of B ", r.batch, ", H ", r.heads, ", Lq ", r.queries, ", Lk ",
          r.keys, ": got the CUDA error '", cudaGetErrorString(error),
          "', expected none; if an earlier kernel failed, CUDA_LAUNCH_BLOCKING=1 shows which, and Path::composed runs "
          "without these kernels");
  }

 private:
  c10::cuda::CUDAGuard guard_;
  at::TensorOptions options_;
  Tensor workspace_;
};

/// Where the kernels find the seed: a captured step must not repeat it (NoiseScope).
void share_seed(kernels::Problem<float>& p) {
  if (p.dropout > 0 || p.perturb) p.seed_at = NoiseScope::address_of(p.seed);
}

void check_supported(const char* reason) {  // outline() and the problem itself must agree
  check(reason[0] == '\0', "backend/cuda: got a call that was planned for its kernels, but ", reason,
        "; use Path::composed");
}

class Cuda final : public Backend {
 public:
  explicit Cuda(const Options&) {}

  Path path() const override { return Path::fused; }
  bool runs_on(const at::Device& device) const override { return device.is_cuda(); }

  std::string why_not(const CallRecord& r) const override {
    const at::Device device = r.in[kValues].device();
    if (!device.is_cuda()) return "the kernels run on GPUs, the query is on " + device.str();
    if (r.type() != at::kFloat)
      return std::string("the CUDA kernels are for float, the query is ") + toString(r.type());
    if (r.sizes().key_dim == 0 || r.sizes().value_dim == 0) return "keys or values have no features";
    if (!r.score.missing.empty()) return "score/" + r.spec->score.name + ": " + r.score.missing;
    if (!r.align.missing.empty()) return "alignment/" + r.spec->align.name + ": " + r.align.missing;
    if (!r.single()) return "there are no multi-dimensional CUDA kernels";
    if (r.in[kUniforms].defined()) return "the kernels draw their own random numbers, and the call has noise.uniforms";
    if (std::string unread = why_not_read(r, {kKeep, kKeyCount, kFull, kPerKey, kRelative, kAlibi}); !unread.empty())
      return unread;
    if (at::GradMode::is_enabled())
      for (const Slot slot : {kFull, kPerKey, kRelative, kAlibi})
        if (r.in[slot].defined() && r.in[slot].requires_grad())
          return std::string("the CUDA kernels have no gradient of ") + kSlotSpecs[slot].name;
    const auto p = outline(r);
    if (const char* missing = cuda::why_not(p); missing[0] != '\0') return missing;
    return cuda::why_not(p, outline_of_requested(r));
  }

  int priority(const CallRecord&) const override { return 100; }
  /// The kernels skip queries without keys, and keys that are not below key_count. Other masked keys are in a tile with
  /// those that are not: there must be none that no query attends.
  bool skips_unreached(const CallRecord& r) const override {
    return !r.in[kKeep].defined() && r.max_keys >= r.keys && attends_every_key(r.call.mask, r.whole());
  }

  bool skips_rows_without_keys(const CallRecord&) const override { return true; }

  void describe(const CallRecord& r, Plan& plan) const override {
    const auto p = outline(r);
    plan.kernel = cuda::kernel_name(p);
    plan.block_rows = r.batch;
    plan.block_queries = r.queries;
    constexpr int64_t kRowBytes = sizeof(kernels::RowStats<float>);  // saved for backward
    plan.bytes = r.batch * r.heads * r.queries * kRowBytes + static_cast<int64_t>(cuda::forward_bytes(p));
  }

  ForwardResult forward(const CallRecord& r, bool learns) const override {
    const KernelTensors t(r);
    Launch launch(t.values);
    ForwardResult result;
    Tensors& out = result.outputs;
    const int64_t width = t.values.size(3);
    out[kContext] = r.head_axis ? at::empty({r.batch, r.heads, r.queries, width}, t.values.options())
                                : at::empty({r.batch, r.queries, width}, t.values.options());
    auto p = kernel_tensors::pair_problem<float>(r, t);
    share_seed(p);
    const int64_t bytes = r.batch * r.heads * r.queries * static_cast<int64_t>(sizeof(kernels::RowStats<float>));
    const Tensor rows = at::empty({bytes}, t.values.options().dtype(at::kByte));
    p.rows = kernel_tensors::pointer<kernels::RowStats<float>>(rows);
    p.context = kernel_tensors::pointer<float>(out[kContext]);
    check_supported(cuda::why_not(p));
    cuda::forward(p, launch.workspace(cuda::forward_bytes(p)), launch.stream());
    const RequestedBuffers<float> requested(r, p, out);
    if (requested.any) {
      check_supported(cuda::why_not(p, requested.wanted));
      cuda::report(p, requested.wanted, launch.workspace(cuda::report_bytes(p, requested.wanted)), launch.stream());
    }
    Launch::check_error("forward", r);
    if (learns) result.saved = {out[kContext], {rows}};
    return result;
  }

  bool differentiates(const CallRecord&, const Tensors& grads) const override {
    for (size_t i = 0; i < kOutputs; ++i)
      if (i != kContext && i != kLse && grads[i].defined()) return false;
    return true;
  }

  Tensors backward(const CallRecord& r, const SavedTensors& saved, const Tensors& given,
                   const std::vector<bool>& wanted) const override {
    GradientBuffers buffers(r, wanted, /*by_scores=*/true);
    if (!buffers.any) return buffers.all;
    Tensors grads(kOutputs);
    for (const Output i : {kContext, kLse}) grads[i] = kernel_tensors::dense(given[i]);
    const KernelTensors t(r);
    Launch launch(t.values);
    auto p = kernel_tensors::pair_problem<float>(r, t);
    share_seed(p);
    p.rows = kernel_tensors::pointer<kernels::RowStats<float>>(saved.others[0]);
    p.context = kernel_tensors::pointer<float>(saved.context);
    kernels::Gradients<float> g;
    kernel_tensors::fill<float>(grads, buffers.all, g);
    check_supported(cuda::why_not(p, g));
    cuda::backward(p, g, launch.workspace(cuda::backward_bytes(p, g)), launch.stream());
    Launch::check_error("backward", r);
    return buffers.all;
  }
};

const Catalogue<Backend>::Entry cuda_entry{
    "cuda", make_part<Backend, Cuda>, {.choose = "float tensors on an NVIDIA GPU: additive and dot with softmax"}};

}  // namespace
}  // namespace heed::backend
